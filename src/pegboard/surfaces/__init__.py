"""The doors to the board."""
