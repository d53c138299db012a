"""Tools, users, keys, agents and secrets of a board: registration, changes, imports, and the snapshot for calls."""
