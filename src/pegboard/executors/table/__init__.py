"""Rows into the tables of a database."""
