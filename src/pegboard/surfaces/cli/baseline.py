"""`pegboard baseline`: the findings that are known, and which of them are resolved."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import typer

from pegboard.surfaces.cli.failures import Refused, Usage
from pegboard.surfaces.cli.output import Yes, confirm_loss, moment, write, write_table
from pegboard.surfaces.cli.routes import route
from pegboard.surfaces.cli.session import board_command, give, group, session_of, with_board
from pegboard.surfaces.cli.tools import Cursor, Every, Limit, say_more

app = group("baseline", "Tell new findings from those that are known.")

Shared = Annotated[bool, typer.Option("--shared", help="In the shared baseline, not in your own")]
Hashes = Annotated[list[str], typer.Argument(metavar="HASH...", help="64 hexadecimal characters", show_default=False)]
Findings = Annotated[str, typer.Argument(metavar="FILE|-", help="JSON, or JSON Lines; - is standard input")]


@board_command(app, "record")
def record(ctx: typer.Context, source: Findings, shared: Shared = False) -> None:
    """Record that findings were seen: {finding_id, composite_hash, seen_at?} each, all of them or none.

    Example: pegboard baseline hash scan.json --json | pegboard baseline record -
    """
    from pegboard.surfaces.cli import finding_files  # noqa: PLC0415 -- start-up time

    body = {"findings": finding_files.load(source), "scope": _scope(shared)}

    def show(done: dict[str, Any]) -> None:
        counts = f"{done['new']} new, {done['recurring']} recurring, {done['reopened']} reopened"
        write(f"recorded {done['recorded']}: {counts}")

    give(ctx, with_board(ctx, lambda it: it.post(route("baseline", "findings"), body, patient=True)), show)


@board_command(app, "resolve")
def resolve(
    ctx: typer.Context,
    hashes: Annotated[list[str] | None, typer.Argument(metavar="[HASH]...", show_default=False)] = None,
    source: Annotated[
        str | None, typer.Option("--file", metavar="FILE|-", help="The findings, as they are recorded")
    ] = None,
    shared: Shared = False,
) -> None:
    """Mark findings resolved, until they are seen again; all of them or none."""
    if bool(hashes) == (source is not None):
        raise Usage("Say what is resolved by HASH... or with --file, one of the two")
    body: dict[str, Any] = {"scope": _scope(shared)}
    if source is None:
        body["composite_hashes"] = hashes
    else:
        from pegboard.surfaces.cli import finding_files  # noqa: PLC0415 -- start-up time

        body["findings"] = finding_files.load(source)

    def show(done: dict[str, Any]) -> None:
        write(f"resolved {done['resolved']}: {done['already_resolved']} were already, {done['unknown']} are not known")

    give(ctx, with_board(ctx, lambda it: it.post(route("baseline", "resolve"), body, patient=True)), show)


@board_command(app, "query")
def query(ctx: typer.Context, hashes: Hashes, shared: Shared = False) -> None:
    """Show what the baseline knows of findings, in the order asked; a call of batch_baseline_query."""
    arguments = {
        "finding_ids": hashes,
        "composite_hashes": hashes,
        "query_type": "batch_baseline_check",
        "additional_params": {"scope": _scope(shared)},
    }
    path, body = route("tools", "batch_baseline_query", "call"), json.dumps(arguments).encode()
    reply = with_board(ctx, lambda it: it.send("POST", path, params={"as": "plain"}, body=body, any_status=True))
    if not reply.data["success"]:
        raise Refused(str(reply.data["error"]))
    results = reply.data["result"]["results"]
    if session_of(ctx).as_json:
        write(json.dumps(results))
        return
    rows = [
        [it["composite_hash"], it["baseline_status"], it["seen_count"], moment(it["first_seen_ts"])] for it in results
    ]
    write_table(["HASH", "STATUS", "SEEN", "FIRST"], rows)


@board_command(app, "list")
def list_findings(
    ctx: typer.Context,
    *,
    status: Annotated[
        Literal["recurring", "resolved"] | None, typer.Option("--status", help="Only those", show_default=False)
    ] = None,
    shared: Shared = False,
    limit: Limit = 50,
    cursor: Cursor = None,
    every: Every = False,
) -> None:
    """List the findings of a baseline, in the order of their hashes."""

    def show(page: dict[str, Any]) -> None:
        rows = [
            [
                it["composite_hash"],
                it["finding_id"],
                it["baseline_status"],
                it["seen_count"],
                moment(it["first_seen_at"]),
                moment(it["last_seen_at"]),
            ]
            for it in page["items"]
        ]
        write_table(["HASH", "FINDING", "STATUS", "SEEN", "FIRST", "LAST"], rows, "No findings.")
        say_more(page)

    path, params = route("baseline", "findings"), {"status": status, "scope": _scope(shared)}
    give(ctx, with_board(ctx, lambda it: it.pages(path, params, limit=limit, cursor=cursor, every=every)), show)


@board_command(app, "remove")
def remove(
    ctx: typer.Context,
    composite_hash: Annotated[str | None, typer.Argument(metavar="[HASH]", show_default=False)] = None,
    status: Annotated[
        Literal["recurring", "resolved", "all"] | None,
        typer.Option("--status", help="All findings of this status instead", show_default=False),
    ] = None,
    shared: Shared = False,
    yes: Yes = False,
) -> None:
    """Remove a finding from the baseline, as if it had never been seen, or all findings of one status."""
    if (composite_hash is None) == (status is None):
        raise Usage("Give HASH or --status, one of the two")
    which = composite_hash or ("all findings" if status == "all" else f"all {status} findings")
    confirm_loss(f"Remove {which} from the {'shared' if shared else 'own'} baseline?", yes=yes)
    words = ("baseline", "findings") if composite_hash is None else ("baseline", "findings", composite_hash)
    params = {"scope": _scope(shared), "status": status}
    reply = with_board(ctx, lambda it: it.send("DELETE", route(*words), params=params, patient=True))
    removed = 1 if composite_hash is not None else reply.data["removed"]
    if session_of(ctx).as_json:
        write(json.dumps({"removed": removed}))
    else:
        write(f"removed {removed}")


@board_command(app, "hash")
def hash_findings(ctx: typer.Context, source: Findings) -> None:
    """Print the composite hash of each finding's content, without a server.

    With --json, what it prints can be recorded.
    """
    from pegboard.surfaces.cli import finding_files  # noqa: PLC0415 -- start-up time

    made = finding_files.hashed(finding_files.load(source), "standard input" if source == "-" else source)
    if session_of(ctx).as_json:
        write(json.dumps({"findings": made}))
    else:
        write("\n".join(f"{it['composite_hash']}  {it['finding_id']}" for it in made))


def _scope(shared: bool) -> str:
    return "shared" if shared else "own"
