"""A board that answers calls from a file of fixtures, for tests of its clients."""
