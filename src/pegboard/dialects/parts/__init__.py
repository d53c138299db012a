"""What dialects share, that do not know each other."""
