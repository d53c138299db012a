"""Runs the command line: `python -m pegboard` is the same as `pegboard`."""

from __future__ import annotations

from pegboard.surfaces.cli.main import main

main()
