"""Chains of calls: references between steps, their order, and running them."""
