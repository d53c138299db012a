"""The board in frameworks that agents are built with; each needs its own package."""
