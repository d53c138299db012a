"""The options that every command has: the board, the key and the output format; and the settings of this machine."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import typer

from pegboard.surfaces.cli.exit_codes import CommandFailure, UsageError
from pegboard.surfaces.cli.output import write_json

if TYPE_CHECKING:
    from pegboard.settings import Settings

DEFAULT_URL = "http://127.0.0.1:8080"

# The options that every command also accepts after its name, each with its default and declaration.
SHARED_OPTIONS: dict[str, tuple[Any, Any]] = {
    "as_json": (False, Annotated[bool, typer.Option("--json", help="Print the JSON of the API")]),
    "local": (False, Annotated[bool, typer.Option("--local", help="Open the database directly, without a server")]),
    "url": (None, Annotated[str | None, typer.Option("--url", metavar="URL", help="URL of the server")]),
    "key": (None, Annotated[str | None, typer.Option("--key", metavar="KEY", help="API key")]),
}
# Prevents conflicts between the added parameters and those of the command.
SHARED_OPTION_PREFIX = "shared_"


class PageOptions(NamedTuple):
    """The part of a list to read: at most `limit` items after the cursor, or every page."""

    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of items")] = 50
    cursor: Annotated[
        str | None, typer.Option("--cursor", help="next_cursor of the previous page", show_default=False)
    ] = None
    every: Annotated[bool, typer.Option("--all", help="Read all pages")] = False


ALL_PAGES = PageOptions(every=True)


@dataclass(frozen=True, slots=True)
class CliSession:
    """The options that apply to every command."""

    url: str = DEFAULT_URL
    key: str | None = None
    local: bool = False
    as_json: bool = False
    # True if --url was given.
    is_remote: bool = False


def get_session(ctx: typer.Context) -> CliSession:
    """Return the options of this command."""
    found = ctx.obj
    return found if isinstance(found, CliSession) else CliSession()


def accept_shared_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the shared options in its signature; those given after its name have priority.

    A parameter that is a named tuple of options, such as PageOptions, is replaced by these options.
    """
    declared = inspect.signature(command, eval_str=True)
    groups = {name: kind for name, one in declared.parameters.items() if hasattr(kind := one.annotation, "_fields")}
    parameters = [
        _with_metavar(option)
        for one in declared.parameters.values()
        for option in (_list_options(groups[one.name]) if one.name in groups else [one])
    ]
    parameters += [_make_option(SHARED_OPTION_PREFIX + name, *option) for name, option in SHARED_OPTIONS.items()]

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        given = {name: arguments.pop(SHARED_OPTION_PREFIX + name) for name in SHARED_OPTIONS}
        for name, group in groups.items():
            arguments[name] = group(*map(arguments.pop, group._fields))
        ctx = arguments["ctx"]
        changes = {name: value for name, value in given.items() if value}
        session = ctx.obj = replace(get_session(ctx), **changes)
        if session.local and (session.is_remote or changes.get("url")):
            raise UsageError("--local opens the database directly, so it excludes --url; leave one of them out")
        if changes.get("url"):
            session = ctx.obj = replace(session, is_remote=True)
        try:
            command(**arguments)
        except CommandFailure as failure:
            if session.as_json:
                write_json(failure.data)
            raise

    run.__signature__ = declared.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _list_options(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [_make_option(name, group._field_defaults[name], hints[name]) for name in group._fields]


def _make_option(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _with_metavar(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return the parameter with TEXT or N as its metavar, unless it declares one."""
    if get_origin(parameter.annotation) is not Annotated:
        return parameter
    kind, option, *_ = get_args(parameter.annotation)
    kinds = {kind, *get_args(kind)}
    word = "TEXT" if str in kinds or list[str] in kinds else "N" if kinds & {int, float} else None
    if word is None or getattr(option, "metavar", word) is not None:
        return parameter
    named = copy.copy(option)
    named.metavar = word
    return parameter.replace(annotation=Annotated[kind, named])


def read_settings(**given: Any) -> Settings:
    """Return the settings of this machine, overridden by those given; raise UsageError if some are invalid."""
    # Takes a fifth of a second, and commands with a key do without them.
    from pegboard.settings import InvalidSettings, Settings  # noqa: PLC0415

    try:
        return Settings(**given)
    except InvalidSettings as error:
        raise UsageError("The settings are not valid", error.faults) from None
    except (ValueError, OSError) as error:
        raise UsageError(f"The settings cannot be read: {error}") from None
