"""The database of a board, its tables and rows, and the encryption of secrets."""
