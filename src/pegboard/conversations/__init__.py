"""Conversations: stored threads of messages and the tool calls made in them."""
