"""Clients that cannot be installed beside the dependencies of the tests: `python -m tests.conformance.clients`."""
