"""The interface of executors, and the config of a tool with its owner's secrets filled in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from pegboard.model.call import ReadyCall
from pegboard.model.call_errors import Misconfigured
from pegboard.model.tool import Tool
from pegboard.model.validation_messages import list_model_faults


@dataclass(frozen=True, slots=True)
class OpenTool:
    """A tool with decrypted config and the values of its owner's secrets in it; used only inside executors."""

    tool: Tool
    config: Mapping[str, Any]
    auth: Mapping[str, Any] | None = None
    secrets: frozenset[str] = frozenset()


class Output(NamedTuple):
    """The output of a call and additional values for the journal: printed text and the id of the inserted row."""

    value: Any
    printed: str = ""
    row_id: str | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """A tool ready to run. Tools with `instant` never wait, so their calls need no timer.

    `run` returns the output of the call, or an Output if there are further values for the journal. If `receipts` is
    set, all effects of the tool are in the board's own database, each in one transaction with a receipt
    (`add_receipt` in `storage/receipt_rows.py`), so that recovery can determine whether an interrupted call happened.
    """

    run: Callable[[ReadyCall], Awaitable[Any]]
    instant: bool = False
    receipts: bool = False
    # Starts to prepare what the first call would otherwise wait for.
    warm: Callable[[], None] | None = None


class Executor(Protocol):
    """Runs the tools of one kind."""

    def prepare(self, tool: OpenTool) -> Prepared:
        """Prepare the tool for any number of calls; raise ToolError if it cannot run."""
        ...

    async def close(self) -> None:
        """Close connections and end processes."""
        ...


M = TypeVar("M", bound=BaseModel)


def read_config(model: type[M], config: Mapping[str, Any]) -> M:
    """Validate the config against this model; raise Misconfigured with the field and the rule, without the value."""
    try:
        return model.model_validate(config)
    except ValidationError as error:
        # The message contains no value: it may be a secret, which is filled in at this point.
        first = list_model_faults(error, model, "config")[0]
        raise Misconfigured(f"{first.field}: {first.message}") from None
