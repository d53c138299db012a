"""The board over HTTP."""
