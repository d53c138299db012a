"""The kinds of tools and their executors."""
