"""http tools: requests from arguments, outputs from responses."""
