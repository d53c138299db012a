"""Former path of `pegboard.mock_server.read_fixtures`."""

import warnings

from pegboard.mock_server.read_fixtures import read_fixtures

__all__ = ["read_fixtures"]

warnings.warn(
    "pegboard.mocking.reading moved to pegboard.mock_server.read_fixtures; the former path goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
