"""Chains as they are written: references, and what they make steps wait for."""
