"""The config of python tools."""

from __future__ import annotations

from pydantic import Field

from pegboard.kinds.config_fields import MAX_LIBRARIES, Code, Env, Library, Seconds
from pegboard.model.base_model import Model


class PythonConfig(Model):
    """A Python function, run confined."""

    code: Code
    timeout: Seconds | None = None
    libraries: list[Library] = Field([], max_length=MAX_LIBRARIES)
    entrypoint: Code | None = None
    env: Env = {}
    network: bool = False
