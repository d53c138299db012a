"""The board's memory: its database, the rows in it, and what keeps them secret."""
