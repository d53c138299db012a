"""What runs in the confined processes themselves, on the standard library alone: the server only ever names it."""
