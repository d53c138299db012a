"""The settings of this machine."""

from __future__ import annotations

from typing import Any

from pegboard.settings import InvalidSettings, Settings
from pegboard.surfaces.cli.exit_codes import UsageError


def read_settings(**given: Any) -> Settings:
    """Return the settings of this machine, overridden by those given; raise UsageError if some are invalid."""
    try:
        return Settings(**given)
    except InvalidSettings as error:
        raise UsageError("The settings are not valid", error.faults) from None
    except (ValueError, OSError) as error:
        raise UsageError(f"The settings cannot be read: {error}") from None
