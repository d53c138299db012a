"""The description of a kind of tool, and the interface of its executor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from pegboard.kinds.libraries import Libraries
from pegboard.model.api_errors import Fault
from pegboard.model.call import Caller, ReadyCall
from pegboard.model.call_errors import Ignored, Misconfigured
from pegboard.model.registered_upstream import ServerAddress
from pegboard.model.tool import Tool
from pegboard.model.tool_definition import ToolDefinition
from pegboard.model.validation_messages import list_model_faults

if TYPE_CHECKING:
    from pegboard.kinds.confined_call import ConfinedServices
    from pegboard.kinds.upstream_limits import OutboundServices


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

    `run` returns the output of the call, or an Output if there are further values for the journal. If it
    `is_transactional`, all effects of a call are one transaction on the board's own database, in which the executor
    also commits the journal entry (`ReadyCall.conclude`, `journal/transactional_journal.py`): it is never in doubt.
    If they are a transaction on another database, `receipts_in` names it if the executor commits the journal entry
    there as a receipt (`journal/receipts.py`).
    """

    run: Callable[[ReadyCall], Awaitable[Any]]
    instant: bool = False
    is_transactional: bool = False
    receipts_in: str | None = None
    # Starts the preparation that the first call would otherwise wait for.
    warm: Callable[[], None] | None = None


class Executor(Protocol):
    """Runs the tools of one kind."""

    def prepare(self, tool: OpenTool) -> Prepared:
        """Prepare the tool for any number of calls; raise ToolError if it cannot run."""
        ...

    async def close(self) -> None:
        """Close connections and end processes."""
        ...


class Services(Protocol):
    """The services of a board that its executors use."""

    @property
    def reach(self) -> OutboundServices:
        """The guarded HTTP client, its circuit breakers and its limits."""
        ...

    @property
    def confinement(self) -> ConfinedServices:
        """The sandbox."""
        ...


class ArgumentCheck(Protocol):
    """Checks the arguments of the calls of one tool."""

    def check(self, arguments: dict[str, Any], size: int | None = None) -> dict[str, Any]:
        """Return the arguments to run with, or the same object if nothing changes; raise InvalidArguments.

        `size` is the length of the arguments as JSON, if known.
        """
        ...

    def list_ignored(self, arguments: dict[str, Any]) -> tuple[Ignored, ...]:
        """Return the arguments that are dropped."""
        ...


@dataclass(frozen=True, slots=True)
class RegistrationRules:
    """The settings that limit what may be registered on a board."""

    shell_for_members: bool
    libraries: Libraries
    # The default limit of results, and the highest limit that members may set.
    max_result_bytes: int
    # True if a tool of this owner may use the handler of this name, and the names of those for members.
    may_use_handler: Callable[[str, str], bool] = lambda _owner_id, _name: False
    list_member_handlers: Callable[[], list[str]] = list


@dataclass(frozen=True, slots=True)
class Registration:
    """A definition that is being registered, for the checks of its kind."""

    definition: ToolDefinition
    # The validated config, an object of `KindSpec.config`.
    config: Any
    # The version that it replaces; the `tool_type` of an empty tool is empty.
    before: Tool
    rules: RegistrationRules


DEFAULT_TIMEOUT_SECONDS = 30.0


def _get_timeout(config: Mapping[str, Any]) -> float | None:
    timeout: float | None = config.get("timeout")
    return timeout


@dataclass(frozen=True, slots=True)
class KindSpec:
    """A kind of tool: the checks of its config and of its arguments, and its executor."""

    name: str
    config: type[BaseModel]
    executor: Callable[[Any], Executor]
    """Returns the executor of one board, given its `Services`."""
    default_timeout: float = DEFAULT_TIMEOUT_SECONDS
    is_instant: bool = False
    """True if no call ever waits; then the board does not look out for clients that disconnect."""
    has_effects: bool = True
    """False if no call has an effect outside the board, so that an interrupted call is not in doubt."""
    exact_numbers: bool = False
    """True if arguments keep numbers with more digits than a float has, as Decimal."""
    warms_up: bool = False
    """True if a tool is prepared as soon as it is registered, and not at its first call."""
    runs_own_code: bool = False
    """True if code of the tool's owner decides, by the arguments, what happens to credentials."""
    url_fields: tuple[str, ...] = ()
    """The config keys with URLs that must be allowed by the address policy."""
    presets_field: str | None = None
    """The config key with default arguments."""
    derive_schema: Callable[[Mapping[str, Any]], dict[str, Any] | None] | None = None
    """Returns the input_schema of a definition that has none, from its config as it was sent.

    It returns None if the config is not valid. Without this function, a definition needs an input_schema.
    """
    complete: Callable[[Registration], Mapping[str, Any]] = lambda _registration: {}
    """Returns fields of the definition that follow from its config."""
    check: Callable[[Registration], list[Fault]] = lambda _registration: []
    """Returns the faults that the types of the config cannot express."""
    may_register: Callable[[Tool, Caller, RegistrationRules], str | None] = lambda _tool, _caller, _rules: None
    """Returns why this caller may not register this new or changed tool, or None."""
    get_timeout: Callable[[Mapping[str, Any]], float | None] = _get_timeout
    """Returns the timeout of one attempt that the config sets, or None."""
    list_tool_names: Callable[[Mapping[str, Any]], Iterable[str]] = lambda _config: ()
    """Returns the names of the other tools that the config refers to."""
    arguments: Callable[[Tool], ArgumentCheck] | None = None
    """Returns what checks the arguments, if that is more than the input_schema."""
    list_mcp_members: Callable[[Tool], Mapping[str, Any]] = lambda _tool: {}
    """Returns members with which MCP lists a tool, beside those that follow from its fields."""
    find_tool_server: Callable[[Tool], ServerAddress | None] = lambda _tool: None
    """Returns the address of the MCP server that a tool was imported from, or None."""
    local_origin: str = "is defined in the code of the process that runs the board"
    """The source of a tool of this kind that is not stored."""
    is_missing: bool = False
    """True if no installed package has this kind; its stored tools are listed, and cannot run."""
    purpose: str = ""
    """What tools of this kind do, in one sentence for people."""
    example: Mapping[str, Any] | None = None
    """A definition that can be registered after its values are changed."""
    restriction: str = ""
    """What members may not register of this kind, if that depends on the config."""


class InjectedConfig(NamedTuple):
    """A config and credentials with secrets filled in, and the values of those secrets."""

    config: dict[str, Any]
    auth: Mapping[str, Any] | None
    secrets: frozenset[str]


M = TypeVar("M", bound=BaseModel)


def read_config(model: type[M], config: Mapping[str, Any]) -> M:
    """Validate the config against this model; raise Misconfigured with the field and the rule, without the value."""
    try:
        return model.model_validate(config)
    except ValidationError as error:
        # The message contains no value: it may be a secret, which is filled in at this point.
        first = list_model_faults(error, model, "config", shows_numbers=False)[0]
        raise Misconfigured(f"{first.field}: {first.message}") from None
