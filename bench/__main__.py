"""`python -m bench [NAME…] [--quick]`: run benchmarks, and fail if an aim is missed."""

from __future__ import annotations

import sys
from collections.abc import Callable

from bench import baseline, chains, confined, console, dialects, growth, journal, mcp, outbound, rest, streams, tables

BENCHES: dict[str, Callable[[float], bool]] = {
    "rest": rest.main,
    "growth": growth.main,
    "journal": journal.main,
    "outbound": outbound.main,
    "mcp": mcp.main,
    "confined": confined.main,
    "tables": tables.main,
    "dialects": dialects.main,
    "streams": streams.main,
    "chains": chains.main,
    "baseline": baseline.main,
    "console": console.main,
}


def main() -> None:
    """Run the named benchmarks, or all of them; exit with 1 if an aim is missed."""
    arguments = sys.argv[1:]
    quick = "--quick" in arguments
    names = [name for name in arguments if name != "--quick"] or list(BENCHES)
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        sys.exit(f"no such benchmark: {', '.join(unknown)}; there are: {', '.join(BENCHES)}")
    met = [BENCHES[name](0.5 if quick else 2.0) for name in names]
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
