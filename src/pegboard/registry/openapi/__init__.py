"""API documents read as tools."""
