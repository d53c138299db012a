"""The operations shipped with Pegboard."""
