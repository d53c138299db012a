"""Dialects: the wire formats of calls, results and definitions."""
