"""The tools on the board and the people who own them."""
