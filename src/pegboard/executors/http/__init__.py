"""http tools: from arguments to a request, from an answer to a result."""
