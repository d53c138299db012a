"""Arguments and results as text for people."""
