"""How many connections the proxies of all calls may have together."""

from __future__ import annotations

import resource

# Where the system sets no limit to open files, one is assumed.
_MOST_FILES = 2**16


def most_connections() -> int:
    """A quarter of the files this process may have open; each connection takes two, so half is left for the rest."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        files = _MOST_FILES
    return max(1, min(files, _MOST_FILES) // 4)
