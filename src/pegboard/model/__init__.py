"""Data types of the board: tools, calls, errors, users. Used by all other packages."""
