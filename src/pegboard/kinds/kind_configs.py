"""The config model of each kind of tool."""

from __future__ import annotations

from collections.abc import Mapping

from pegboard.kinds.builtin.config import BuiltinConfig
from pegboard.kinds.http.config import HttpConfig
from pegboard.kinds.internal.config import InternalConfig
from pegboard.kinds.mcp.config import McpConfig
from pegboard.kinds.mock.config import MockConfig
from pegboard.kinds.python.config import PythonConfig
from pegboard.kinds.shell.config import ShellConfig
from pegboard.kinds.table.config import TableConfig
from pegboard.model.tool import Kind

KindConfig = (
    HttpConfig | McpConfig | PythonConfig | ShellConfig | BuiltinConfig | MockConfig | InternalConfig | TableConfig
)
CONFIG_BY_KIND: Mapping[Kind, type[KindConfig]] = {
    Kind.HTTP: HttpConfig,
    Kind.MCP: McpConfig,
    Kind.PYTHON: PythonConfig,
    Kind.SHELL: ShellConfig,
    Kind.BUILTIN: BuiltinConfig,
    Kind.MOCK: MockConfig,
    Kind.INTERNAL: InternalConfig,
    Kind.TABLE: TableConfig,
}
# The config keys whose values may be credentials; they are encrypted at rest.
SECRET_MAPS = ("headers", "env")


def get_default_timeout(kind: Kind) -> float:
    """Return the default timeout of a call of this kind in seconds."""
    return {Kind.PYTHON: 10.0, Kind.SHELL: 60.0}.get(kind, 30.0)
