"""Nothing happens unrecorded: intents before, rows after, chained, and found again."""
