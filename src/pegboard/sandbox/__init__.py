"""Confined processes for python and shell tools: how they are started, isolated, limited and ended."""
