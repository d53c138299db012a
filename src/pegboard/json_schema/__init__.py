"""JSON Schema: compile schemas, validate values, and explain why a value is not valid."""
