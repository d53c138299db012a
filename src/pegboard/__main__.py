"""`python -m pegboard` is `pegboard`."""

from __future__ import annotations

from pegboard.surfaces.cli.main import main

main()
