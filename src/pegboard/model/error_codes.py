"""Every error code of a call, with its type, its meaning and what to do; docs/reference/errors.md has the details."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pegboard.model.call_errors import ErrorType

_VALIDATION, _CONFIG = ErrorType.VALIDATION, ErrorType.CONFIG
_DATABASE, _UNKNOWN = ErrorType.DATABASE, ErrorType.UNKNOWN


class ErrorCode(NamedTuple):
    """One error code. `retryable`: whether the same call may succeed later; None if that depends on the case."""

    code: str
    type: ErrorType
    retryable: bool | None
    meaning: str
    remedy: str


_WAIT = "Wait retry_after_ms, then try again"
_READ = "Read the message"
_CORRECT = "Correct the field that the message names"
_ASK_ADMIN = "Ask an admin to correct the database or the file of tables"

_OF_CALLS = (
    ErrorCode(
        "malformed_arguments",
        _VALIDATION,
        False,
        "The arguments are not a JSON object, or are too large or nested too deeply",
        "Send an object within the bounds of the board",
    ),
    ErrorCode(
        "invalid_arguments",
        _VALIDATION,
        False,
        "The arguments do not match the schema of the tool",
        "Correct the fields in the message",
    ),
    ErrorCode(
        "tool_not_found",
        _CONFIG,
        False,
        "There is no such tool for this caller: misspelt, deleted, private to another user, or not on the key's agent",
        "Check the definitions that you received",
    ),
    ErrorCode("tool_inactive", _CONFIG, False, "The tool is not active", "Ask its owner to set is_active"),
    ErrorCode(
        "handler_not_found",
        _CONFIG,
        False,
        "The tool names a builtin operation or an internal handler that this process does not have",
        "Correct the config of the tool, or install the handler",
    ),
    ErrorCode(
        "misconfigured",
        _CONFIG,
        False,
        "This board cannot run the tool with its current configuration",
        "Read the message; change the tool or the configuration",
    ),
    ErrorCode(
        "secret_unreadable",
        _CONFIG,
        False,
        "A credential of the tool is missing or cannot be decrypted",
        "Set the secret, or restore the encryption key; pegboard doctor lists the rows",
    ),
    ErrorCode(
        "drifted",
        _CONFIG,
        False,
        "The MCP server that offers the tool has changed it since its owner imported or accepted it",
        "The owner checks the change and accepts it: pegboard tools accept NAME",
    ),
    ErrorCode(
        "egress_refused",
        _CONFIG,
        False,
        "The address policy does not allow the address of the tool, or a redirect would expose its credentials",
        "Correct the URL, or ask an admin to allow the address",
    ),
    ErrorCode(
        "rate_limited",
        _UNKNOWN,
        True,
        "The rate limit of the tool or of the key is exceeded, or the upstream answered with 429",
        _WAIT,
    ),
    ErrorCode(
        "timeout",
        _UNKNOWN,
        True,
        "The tool did not end within its time limit; it may have had side effects",
        "Try again if the tool is idempotent; request less; increase its timeout",
    ),
    ErrorCode(
        "execution_failed",
        _UNKNOWN,
        False,
        "The tool ran and failed, returned something that is not JSON, or exceeded a limit",
        "Read the message, which is that of the tool",
    ),
    ErrorCode(
        "upstream_failed",
        _UNKNOWN,
        None,
        "The upstream could not be reached, answered with an error, or with a response that cannot be parsed",
        "Read the message, which has the response; if there is a retry_after_ms, wait and try again",
    ),
    ErrorCode(
        "circuit_open",
        _UNKNOWN,
        True,
        "The upstream failed five times in a row, and gets no requests for 30 seconds",
        _WAIT,
    ),
    ErrorCode(
        "contract_violation",
        _UNKNOWN,
        False,
        "The result of the tool does not match its output_schema, after all attempts",
        "Correct the tool or its output_schema",
    ),
    ErrorCode(
        "result_too_large",
        _UNKNOWN,
        False,
        "The result is larger than the tool may return",
        "Request less, or increase max_result_bytes",
    ),
    ErrorCode(
        "cancelled",
        _UNKNOWN,
        False,
        "The caller disconnected or cancelled before the tool ended, or the server stopped",
        "Check what the tool did; to run it again, use a new idempotency key",
    ),
    ErrorCode(
        "idempotency_conflict",
        _VALIDATION,
        False,
        "The idempotency key was used for a call of this tool with other arguments; the tool did not run",
        "Send the first arguments again, or a new key for a new call",
    ),
    ErrorCode(
        "in_doubt",
        _UNKNOWN,
        False,
        "The call was interrupted, and it is unknown whether it took effect; it is not run again",
        "Check the data that the tool changes; then call with a new key, or do nothing",
    ),
    ErrorCode(
        "interrupted",
        _UNKNOWN,
        True,
        "The process died, and the tool certainly did not take effect; only rows of the journal have this code",
        "Call again",
    ),
    ErrorCode(
        "answer_not_kept",
        _UNKNOWN,
        False,
        "The call with this idempotency key has run, but its result is no longer stored",
        "The execution in the message shows how it ended; to run it again, use a new key",
    ),
    ErrorCode(
        "unavailable",
        _UNKNOWN,
        True,
        "The board cannot accept calls now, or your share of running calls is used up; the tool did not run",
        _WAIT,
    ),
    ErrorCode(
        "unrecorded",
        _UNKNOWN,
        False,
        "The tool ran, but its result could not be recorded",
        "Check the journal later, or check what the tool did; repeat the call if it is safe to run it twice",
    ),
    ErrorCode(
        "internal_error",
        _UNKNOWN,
        False,
        "A bug in Pegboard; the text is in the log only",
        "Report it, with the log line call_broke_the_board",
    ),
)

_OF_ARGUMENTS = {
    "missing": "A required field is missing",
    "invalid_type": "The value has the wrong JSON type",
    "invalid_enum_value": "The value is not one of the allowed values",
    "invalid_literal": "The value is not the only allowed value",
    "too_small": "A number is too small, a string or list is too short, or an object has too few fields",
    "too_big": "A number is too large, a string or list is too long, or an object has too many fields",
    "not_multiple_of": "The number is not a multiple of the step, or has too many decimal places",
    "invalid_string": "The string does not match the pattern, the format or the encoding",
    "invalid_union": "The value matches none of the allowed forms",
    "unrecognized_keys": "A field is not declared, and the tool rejects such fields",
    "custom": "The value breaks another rule of the schema",
}

# The codes of Prisma: whether the error is temporary, the meaning, and what to do.
_OF_DATABASES: dict[str, tuple[bool | None, str, str]] = {
    "P1000": (False, "The database does not accept the user or the password of its URL", _ASK_ADMIN),
    "P1001": (True, "The database cannot be reached", _WAIT),
    "P1003": (False, "There is no such database", _ASK_ADMIN),
    "P1008": (True, "The database took too long, for example because the table is locked", _WAIT),
    "P1010": (False, "The database's user may not insert into the table", _ASK_ADMIN),
    "P1017": (None, "The connection to the database was lost", "Read the message; if there is a retry_after_ms, wait"),
    "P2000": (False, "A string is too long for its column", _CORRECT),
    "P2002": (False, "A row with these values already exists, and they must be unique", "Send other values"),
    "P2003": (False, "The row that this row refers to does not exist", "Create it first, or refer to another one"),
    "P2004": (False, "A check or an exclusion constraint refuses the row", _READ),
    "P2007": (False, "The value does not have the format of its column", _CORRECT),
    "P2010": (False, "The database refused the row for another reason; the message has the SQLSTATE", _READ),
    "P2011": (False, "A column may not be null", _CORRECT),
    "P2020": (False, "A number is out of the range of its column", _CORRECT),
    "P2021": (False, "The table no longer exists", _ASK_ADMIN),
    "P2022": (False, "A column no longer exists", _ASK_ADMIN),
    "P2024": (True, "No connection to the database became free in time", _WAIT),
    "P2034": (True, "The insert conflicts with another transaction", _WAIT),
    "P2037": (True, "The database has too many connections", _WAIT),
}

_OF_TABLES = {
    "table_unusable": "The table of the tool does not exist, or does not match its config",
    "table_not_found": "There is no such table",
    "column_not_found": "A field is mapped to a column that does not exist",
    "column_required": "A column is required, and no field is mapped to it",
    "type_mismatch": "A column does not accept values of its field's type",
    "receipts_unusable": "The table of receipts cannot be created or used",
    "table_unfit": "The table does not accept rows: it is a view, for example",
    "source_not_found": "The tool names a source that is not in the file of tables",
}


def _list_codes() -> Iterator[ErrorCode]:
    yield from _OF_CALLS
    for code, meaning in _OF_ARGUMENTS.items():
        yield ErrorCode(code, _VALIDATION, False, meaning, _CORRECT)
    for code, (is_temporary, meaning, remedy) in _OF_DATABASES.items():
        yield ErrorCode(code, _DATABASE, is_temporary, meaning, remedy)
    for code, meaning in _OF_TABLES.items():
        yield ErrorCode(code, _CONFIG, False, meaning, f"{_ASK_ADMIN}; the tool then works again")


ERROR_CODES = tuple(_list_codes())
