"""Conversations: threads of messages, with the tool calls that were made in them."""
