"""The journal: append-only rows of all calls in a hash chain, with intents that are committed before calls run."""
