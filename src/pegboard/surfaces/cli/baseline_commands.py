"""`pegboard baseline`: the findings that are known, and which of them are resolved."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import typer

from pegboard.surfaces.cli.api_paths import build_path
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.output import Yes, confirm_removal, format_local_time, write, write_table
from pegboard.surfaces.cli.session import board_command, create_group, get_session, run_with_client, write_reply
from pegboard.surfaces.cli.tool_commands import AllPages, Cursor, Limit, write_next_page_hint

app = create_group("baseline", "Tell new findings from those that are known.")

Shared = Annotated[bool, typer.Option("--shared", help="In the shared baseline, not in your own")]
Hashes = Annotated[list[str], typer.Argument(metavar="HASH...", help="64 hexadecimal characters", show_default=False)]
Findings = Annotated[str, typer.Argument(metavar="FILE|-", help="JSON, or JSON Lines; - is standard input")]


@board_command(app, "record")
def record_findings(ctx: typer.Context, source: Findings, shared: Shared = False) -> None:
    """Record that findings were seen: {finding_id, composite_hash, seen_at?} each, all of them or none.

    Example: pegboard baseline hash scan.json --json | pegboard baseline record -
    """
    from pegboard.surfaces.cli import finding_files  # noqa: PLC0415 -- start-up time

    body = {"findings": finding_files.load_findings(source), "scope": _get_scope_name(shared)}

    def show(done: dict[str, Any]) -> None:
        counts = f"{done['new']} new, {done['recurring']} recurring, {done['reopened']} reopened"
        write(f"recorded {done['recorded']}: {counts}")

    write_reply(
        ctx, run_with_client(ctx, lambda it: it.post(build_path("baseline", "findings"), body, patient=True)), show
    )


@board_command(app, "resolve")
def resolve_findings(
    ctx: typer.Context,
    hashes: Annotated[list[str] | None, typer.Argument(metavar="[HASH]...", show_default=False)] = None,
    source: Annotated[
        str | None, typer.Option("--file", metavar="FILE|-", help="The findings, as they are recorded")
    ] = None,
    shared: Shared = False,
) -> None:
    """Mark findings resolved, until they are seen again; all of them or none."""
    if bool(hashes) == (source is not None):
        raise UsageError("Say what is resolved by HASH... or with --file, one of the two")
    body: dict[str, Any] = {"scope": _get_scope_name(shared)}
    if source is None:
        body["composite_hashes"] = hashes
    else:
        from pegboard.surfaces.cli import finding_files  # noqa: PLC0415 -- start-up time

        body["findings"] = finding_files.load_findings(source)

    def show(done: dict[str, Any]) -> None:
        write(f"resolved {done['resolved']}: {done['already_resolved']} were already, {done['unknown']} are not known")

    write_reply(
        ctx, run_with_client(ctx, lambda it: it.post(build_path("baseline", "resolve"), body, patient=True)), show
    )


@board_command(app, "query")
def query_findings(ctx: typer.Context, hashes: Hashes, shared: Shared = False) -> None:
    """Show what the baseline knows of findings, in the order asked; a call of batch_baseline_query."""
    arguments = {
        "finding_ids": hashes,
        "composite_hashes": hashes,
        "query_type": "batch_baseline_check",
        "additional_params": {"scope": _get_scope_name(shared)},
    }
    path, body = build_path("tools", "batch_baseline_query", "call"), json.dumps(arguments).encode()
    reply = run_with_client(ctx, lambda it: it.send("POST", path, params={"as": "plain"}, body=body, any_status=True))
    if not reply.data["success"]:
        raise RequestRefused(str(reply.data["error"]))
    results = reply.data["result"]["results"]
    if get_session(ctx).as_json:
        write(json.dumps(results))
        return
    rows = [
        [it["composite_hash"], it["baseline_status"], it["seen_count"], format_local_time(it["first_seen_ts"])]
        for it in results
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
    every: AllPages = False,
) -> None:
    """List the findings of a baseline, in the order of their hashes."""

    def show(page: dict[str, Any]) -> None:
        rows = [
            [
                it["composite_hash"],
                it["finding_id"],
                it["baseline_status"],
                it["seen_count"],
                format_local_time(it["first_seen_at"]),
                format_local_time(it["last_seen_at"]),
            ]
            for it in page["items"]
        ]
        write_table(["HASH", "FINDING", "STATUS", "SEEN", "FIRST", "LAST"], rows, "No findings.")
        write_next_page_hint(page)

    path, params = build_path("baseline", "findings"), {"status": status, "scope": _get_scope_name(shared)}
    write_reply(
        ctx, run_with_client(ctx, lambda it: it.pages(path, params, limit=limit, cursor=cursor, every=every)), show
    )


@board_command(app, "remove")
def remove_findings(
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
        raise UsageError("Give HASH or --status, one of the two")
    which = composite_hash or ("all findings" if status == "all" else f"all {status} findings")
    confirm_removal(f"Remove {which} from the {'shared' if shared else 'own'} baseline?", yes=yes)
    words = ("baseline", "findings") if composite_hash is None else ("baseline", "findings", composite_hash)
    params = {"scope": _get_scope_name(shared), "status": status}
    reply = run_with_client(ctx, lambda it: it.send("DELETE", build_path(*words), params=params, patient=True))
    removed = 1 if composite_hash is not None else reply.data["removed"]
    if get_session(ctx).as_json:
        write(json.dumps({"removed": removed}))
    else:
        write(f"removed {removed}")


@board_command(app, "hash")
def hash_findings(ctx: typer.Context, source: Findings) -> None:
    """Print the composite hash of each finding's content, without a server.

    With --json, what it prints can be recorded.
    """
    from pegboard.surfaces.cli import finding_files  # noqa: PLC0415 -- start-up time

    made = finding_files.add_hashes(finding_files.load_findings(source), "standard input" if source == "-" else source)
    if get_session(ctx).as_json:
        write(json.dumps({"findings": made}))
    else:
        write("\n".join(f"{it['composite_hash']}  {it['finding_id']}" for it in made))


def _get_scope_name(shared: bool) -> str:
    return "shared" if shared else "own"
