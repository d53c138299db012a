"""Which tools a caller may register."""

from __future__ import annotations

from pegboard.kinds.base import RegistrationRules
from pegboard.kinds.catalog import find_kind
from pegboard.model.api_errors import Forbidden
from pegboard.model.call import Caller
from pegboard.model.tool import Tool


class RegistrationPolicy(RegistrationRules):
    """What may be registered on this board, and by whom."""

    __slots__ = ()

    def check_registration(self, tool: Tool, caller: Caller, before: Tool | None = None) -> None:
        """Raise Forbidden if this caller may not register the tool, or not change `before` into it."""
        # Unchanged parts are not checked again: otherwise a user could not deactivate a tool that is no longer allowed.
        if before is None or (tool.tool_type, tool.config) != (before.tool_type, before.config):
            reason = find_kind(tool.tool_type).may_register(tool, caller, self)
            if reason is not None:
                raise Forbidden(reason)
        limit = tool.max_result_bytes
        is_changed = before is None or limit != before.max_result_bytes
        if not caller.is_admin and is_changed and limit is not None and limit > self.max_result_bytes:
            raise Forbidden(
                f"Only admins may set a max_result_bytes of more than {self.max_result_bytes:,}, which is the board's "
                "own (PEGBOARD_MAX_RESULT_BYTES)"
            )
