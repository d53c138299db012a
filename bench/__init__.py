"""The measured claims; run them with `make bench`."""
