"""Integrations with agent frameworks; each requires its own package."""
