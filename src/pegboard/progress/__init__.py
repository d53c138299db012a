"""Live events and progress of running calls, produced only while there are subscribers."""
