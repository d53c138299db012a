"""table tools: insert rows into the tables of a database."""
