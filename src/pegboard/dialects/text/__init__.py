"""Dialects of open models, which write calls into their text."""
