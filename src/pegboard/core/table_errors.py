"""What can go wrong with a call that inserts rows."""

from __future__ import annotations

from pegboard.core.errors import ErrorType, FieldProblem, ToolError


class TableUnusable(ToolError):
    """The table is not there, or not as the tool's config says."""

    type = ErrorType.CONFIG
    code = "table_unusable"
    did_run = False

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message, problems=[FieldProblem(code, message)])


class DatabaseFailed(ToolError):
    """The database refused what it was asked to keep, or could not be asked; `code` is one of Prisma's."""

    type = ErrorType.DATABASE
    code = "P2010"

    def __init__(
        self,
        code: str,
        message: str,
        *,
        field: str | None = None,
        sqlstate: str | None = None,
        retry_after_ms: int | None = None,
        did_run: bool = False,
    ) -> None:
        super().__init__(message, problems=[FieldProblem(code, message, field)], retry_after_ms=retry_after_ms)
        self.sqlstate = sqlstate
        self.did_run = did_run

    @property
    def retried_as(self) -> str:
        """What is worth another try, and says when, is a fault of the way there."""
        return "transport" if self.retry_after_ms is not None else self.code
