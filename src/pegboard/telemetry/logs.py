"""Structured logs, one line per event, through the standard logging module, so that the application controls them."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from datetime import UTC, datetime
from typing import Any, Literal

import structlog

from pegboard.model.secrets import HIDDEN, is_secret_name


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return a logger that takes an event and its fields; only warnings are emitted until logging is configured."""
    logger: structlog.stdlib.BoundLogger = structlog.wrap_logger(
        logging.getLogger(name),
        processors=[structlog.stdlib.filter_by_level, structlog.contextvars.merge_contextvars, _to_log_record],
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return logger


def _to_log_record(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> tuple[tuple[str], dict[str, Any]]:
    fields = dict(event)
    name = str(fields.pop("event"))
    exc_info = fields.pop("exc_info", None)
    text = " ".join([name, *(f"{key}={value}" for key, value in fields.items())])
    return (text,), {"exc_info": exc_info, "extra": {"event": name, "fields": fields}}


class _LogFormatter(logging.Formatter):
    def __init__(self, console: bool) -> None:
        super().__init__()
        self._render = structlog.dev.ConsoleRenderer() if console else structlog.processors.JSONRenderer(default=str)

    def format(self, record: logging.LogRecord) -> str:
        """Return one line per event, for records of any logger."""
        line: dict[str, Any] = {
            "event": getattr(record, "event", None) or record.getMessage(),
            "level": record.levelname.lower(),
            "timestamp": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "logger": record.name,
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return str(self._render(None, record.levelname.lower(), line))


def configure_logs(level: str, form: Literal["auto", "console", "json"]) -> None:
    """Send log lines to standard error: ours at this level, those of other libraries from warning."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_LogFormatter(form == "console" or (form == "auto" and sys.stderr.isatty())))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("pegboard").setLevel(level.upper())


def redact_secrets(value: Any, depth: int = 4) -> Any:
    """Return the value with secret-looking keys hidden, truncated to a size suitable for a log line."""
    if isinstance(value, Mapping):
        if depth == 0:
            return "{…}"
        return {
            key: HIDDEN if is_secret_name(str(key)) else redact_secrets(item, depth - 1)
            for key, item in list(value.items())[:50]
        }
    if isinstance(value, list | tuple):
        return [redact_secrets(item, depth - 1) for item in value[:20]] if depth else "[…]"
    if isinstance(value, str) and len(value) > 200:
        return value[:200] + "…"
    return value
