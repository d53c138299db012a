"""The baseline of findings: which of them are new, which recur, which were resolved."""
