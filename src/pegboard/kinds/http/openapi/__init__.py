"""Imports API documents as tools."""
