"""What happens on the board right now, told to whoever listens; nothing is told where nobody does."""
