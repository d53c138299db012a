"""Limits on concurrent calls: fair queues, per-user shares and handler threads."""
