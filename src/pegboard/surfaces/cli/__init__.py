"""The command line surface."""
