"""Tools with fixed outputs."""
