"""Tools that are Python functions in the sandbox."""
