"""Chains of calls: references between them, the order that follows, and running them."""
