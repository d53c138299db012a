"""The shapes in which calls come and answers go."""
