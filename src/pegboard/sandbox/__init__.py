"""Confined child processes, for python and shell tools: who may start one, what it may touch, how it ends."""
