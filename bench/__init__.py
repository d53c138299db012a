"""Benchmarks of the measured claims; run them with `make bench`."""
