"""`pegboard baseline`: the findings that are known, and which of them are resolved."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import typer

from pegboard.model.baseline_finding import composite_hash as compute_hash
from pegboard.model.documents import DocumentError, read_json, read_text
from pegboard.surfaces.cli.api_client import build_path
from pegboard.surfaces.cli.exit_codes import RequestRefused, UsageError
from pegboard.surfaces.cli.input_files import locate_document_errors, name_source, read_input
from pegboard.surfaces.cli.output import write
from pegboard.surfaces.cli.resources import (
    Columns,
    Yes,
    confirm_removal,
    list_resources,
    local_time,
    run_and_write,
    run_with_client,
    show_items,
)
from pegboard.surfaces.cli.session import PageOptions, get_session

Shared = Annotated[bool, typer.Option("--shared", help="In the shared baseline, not in your own")]
Hashes = Annotated[list[str], typer.Argument(metavar="HASH...", help="64 hexadecimal characters", show_default=False)]
Findings = Annotated[str, typer.Argument(metavar="FILE|-", help="JSON, or JSON Lines; - is standard input")]
_FINDING_SHAPES = 'a list of findings, {"findings": [...]}, or one finding a line'


def record_findings(ctx: typer.Context, source: Findings, shared: Shared = False) -> None:
    """Record that findings were seen: {finding_id, composite_hash, seen_at?} each, all of them or none.

    Example: pegboard baseline hash scan.json --json | pegboard baseline record -
    """
    body = {"findings": load_findings(source), "scope": _get_scope_name(shared)}

    def show(done: dict[str, Any]) -> None:
        counts = f"{done['new']} new, {done['recurring']} recurring, {done['reopened']} reopened"
        write(f"recorded {done['recorded']}: {counts}")

    run_and_write(ctx, lambda it: it.post(build_path("baseline", "findings"), body, patient=True), show)


def resolve_findings(
    ctx: typer.Context,
    hashes: Annotated[list[str] | None, typer.Argument(metavar="[HASH]...", show_default=False)] = None,
    source: Annotated[
        str | None, typer.Option("--file", metavar="FILE|-", help="The findings, in the format of `record`")
    ] = None,
    shared: Shared = False,
) -> None:
    """Mark findings resolved, until they are seen again; all of them or none."""
    if bool(hashes) == (source is not None):
        raise UsageError("Give either HASH... or --file")
    body: dict[str, Any] = {"scope": _get_scope_name(shared)}
    if source is None:
        body["composite_hashes"] = hashes
    else:
        body["findings"] = load_findings(source)

    def show(done: dict[str, Any]) -> None:
        others = f"{done['already_resolved']} were already resolved, {done['unknown']} are not known"
        write(f"resolved {done['resolved']}: {others}")

    run_and_write(ctx, lambda it: it.post(build_path("baseline", "resolve"), body, patient=True), show)


def query_findings(ctx: typer.Context, hashes: Hashes, shared: Shared = False) -> None:
    """Show the baseline status of findings, in the given order; calls batch_baseline_query."""
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
    columns: Columns = {
        "HASH": "composite_hash",
        "STATUS": "baseline_status",
        "SEEN": "seen_count",
        "FIRST": local_time("first_seen_ts"),
    }
    show_items({"items": results}, columns, "No results.")


def list_findings(
    ctx: typer.Context,
    *,
    status: Annotated[
        Literal["recurring", "resolved"] | None,
        typer.Option("--status", help="Only findings with this status", show_default=False),
    ] = None,
    shared: Shared = False,
    page: PageOptions,
) -> None:
    """List the findings of a baseline, in the order of their hashes."""
    columns: Columns = {
        "HASH": "composite_hash",
        "FINDING": "finding_id",
        "STATUS": "baseline_status",
        "SEEN": "seen_count",
        "FIRST": local_time("first_seen_at"),
        "LAST": local_time("last_seen_at"),
    }
    scope = _get_scope_name(shared)
    path = build_path("baseline", "findings")
    list_resources(ctx, path, columns, "No findings.", page, status=status, scope=scope)


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
        raise UsageError("Give either HASH or --status")
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


def hash_findings(ctx: typer.Context, source: Findings) -> None:
    """Print the composite hash of each finding's content, without a server.

    The output with --json can be passed to `record`.
    """
    made = [
        _add_hash(finding, f"{name_source(source)} (finding {place})")
        for place, finding in enumerate(load_findings(source), start=1)
    ]
    if get_session(ctx).as_json:
        write(json.dumps({"findings": made}))
    else:
        write("\n".join(f"{it['composite_hash']}  {it['finding_id']}" for it in made))


def _get_scope_name(shared: bool) -> str:
    return "shared" if shared else "own"


def load_findings(source: str) -> list[Any]:
    """Return the findings of a file, or of standard input for `-`; raise UsageError if it has no findings."""
    with locate_document_errors(source):
        text = read_text(read_input(source))
        found = _read_json_lines(text) if _is_json_lines(text) else read_json(text)
    if isinstance(found, dict):
        found = found["findings"] if set(found) == {"findings"} else [found]
    if not isinstance(found, list):
        raise UsageError(f"{name_source(source)}: must hold {_FINDING_SHAPES}")
    return found


def _add_hash(finding: Any, where: str) -> dict[str, Any]:
    """Return the finding with the hash of its content, and its id if it has one."""
    if not isinstance(finding, dict):
        raise UsageError(f"{where}: must be an object")
    try:
        known_by = compute_hash(finding)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None
    finding_id = next((finding[key] for key in ("finding_id", "id") if finding.get(key) is not None), None)
    made: dict[str, Any] = {
        "finding_id": known_by if finding_id is None else str(finding_id),
        "composite_hash": known_by,
    }
    return made | ({"seen_at": finding["seen_at"]} if finding.get("seen_at") is not None else {})


def _is_json_lines(text: str) -> bool:
    """Return True if the first line is a complete object and another object follows."""
    first, _, rest = text.strip().partition("\n")
    if not (first.startswith("{") and rest.lstrip().startswith("{")):
        return False
    try:
        read_json(first)
    except DocumentError:
        return False
    return True


def _read_json_lines(text: str) -> list[Any]:
    found = []
    # Not `splitlines`, which also splits at characters that JSON strings may contain.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                found.append(read_json(line))
            except DocumentError as error:
                raise DocumentError(error.message, number) from None
    return found
