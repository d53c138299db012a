"""The REST surface: the board over HTTP."""
