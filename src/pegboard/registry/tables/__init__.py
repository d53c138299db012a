"""Tables as tools: the file that lists them, the tools they become, and what is checked of a row."""
