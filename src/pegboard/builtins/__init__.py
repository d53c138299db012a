"""The operations shipped with the board."""
