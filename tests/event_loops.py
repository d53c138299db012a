"""The event loops for tests that use sockets, processes or transports directly."""

from __future__ import annotations

import pytest

# `make test` runs on asyncio; `make soak` runs the same tests on uvloop, which `pegboard serve` uses.
USE_UVLOOP = [pytest.param(False, id="asyncio"), pytest.param(True, id="uvloop", marks=pytest.mark.soak)]
