"""`pegboard codes` and `pegboard tools kinds`: what error codes mean, and what kinds of tools there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from pegboard.surfaces.cli.api_client import build_path
from pegboard.surfaces.cli.exit_codes import RequestRefused
from pegboard.surfaces.cli.output import write, write_json
from pegboard.surfaces.cli.resources import NOT_FOUND, Columns, Item, run_with_client, show_items, write_reply
from pegboard.surfaces.cli.session import get_session


def list_codes(
    ctx: typer.Context,
    code: Annotated[str | None, typer.Argument(metavar="[CODE]", help="Only this code", show_default=False)] = None,
) -> None:
    """Explain the error codes of calls, or one of them.

    Example: pegboard codes rate_limited
    """

    def show(item: Item) -> None:
        write(f"{item['code']} ({item['type']}): {item['meaning']}.")
        write(f"What to do: {item['remedy']}.")

    _list_or_show(ctx, "codes", {"CODE": "code", "TYPE": "type", "MEANING": "meaning"}, code, show)


def list_kinds(
    ctx: typer.Context,
    kind: Annotated[str | None, typer.Argument(metavar="[KIND]", help="Only this kind", show_default=False)] = None,
) -> None:
    """List the kinds of tools, or show one with an example.

    Example: pegboard tools kinds http
    """

    def show(item: Item) -> None:
        write(f"{item['name']}: {item['purpose']}.")
        if item["restriction"]:
            write(f"{item['restriction']}.")
        write_json(item["example"])

    columns: Columns = {
        "KIND": "name",
        "REGISTERED BY": lambda item: item["registered_by"] or "",
        "PURPOSE": "purpose",
    }
    _list_or_show(ctx, "kinds", columns, kind, show)


def _list_or_show(
    ctx: typer.Context, path: str, columns: Columns, wanted: str | None, show: Callable[[Item], None]
) -> None:
    """Write the list of this path as a table, or call `show` with the item whose first column is `wanted`."""
    reply = run_with_client(ctx, lambda it: it.get(build_path(path)))
    if wanted is None:
        write_reply(ctx, reply, lambda found: show_items(found, columns, ""))
        return
    items: dict[Any, Item] = {item[next(iter(columns.values()))]: item for item in reply.data["items"]}
    if wanted not in items:
        raise RequestRefused(f"'{wanted}' is not known; known are: {', '.join(items)}", status=NOT_FOUND)
    if get_session(ctx).as_json:
        write_json(items[wanted])
    else:
        show(items[wanted])
