"""A board that answers from a file, for testing what calls it."""
