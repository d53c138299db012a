"""Reaching out: which addresses may be reached, through which connections, and how much is read of the answers."""
