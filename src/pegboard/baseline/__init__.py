"""The baseline of findings: records which findings are new, recurring or resolved."""
