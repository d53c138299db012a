"""Tools that are commands in the sandbox."""
