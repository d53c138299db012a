"""Tools that are Python functions of the server process."""
