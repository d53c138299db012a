"""The nouns of the board; nothing here imports anything else of ours."""
