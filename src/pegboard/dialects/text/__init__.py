"""Calls that open models write into their text."""
