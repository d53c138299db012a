"""Former path of `pegboard.mock_server.player`."""

import warnings

from pegboard.mock_server.player import register_fixtures as hang

__all__ = ["hang"]

warnings.warn(
    "pegboard.mocking.playing moved to pegboard.mock_server.player; the former path goes with version 0.3",
    DeprecationWarning,
    stacklevel=2,
)
