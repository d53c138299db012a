"""Payloads that are run for whoever follows them: told as it happens, and again from any point for a while."""
