"""The board from the command line."""
