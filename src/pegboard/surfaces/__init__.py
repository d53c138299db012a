"""The surfaces of the board: REST and the command line."""
