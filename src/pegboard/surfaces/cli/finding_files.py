"""Files of findings: a list, an object with `findings`, one finding, or one a line."""

from __future__ import annotations

from typing import Any

from pegboard.model.baseline_finding import composite_hash
from pegboard.model.documents import DocumentError, read_json, read_text
from pegboard.surfaces.cli.definition_files import read_input
from pegboard.surfaces.cli.exit_codes import UsageError

_FINDING_SHAPES = 'a list of findings, {"findings": [...]}, or one finding a line'


def load_findings(source: str) -> list[Any]:
    """Return the findings of a file, or of standard input for `-`; raise UsageError if it has no findings."""
    where = "standard input" if source == "-" else source
    try:
        text = read_text(read_input(source))
        found = _read_json_lines(text) if _is_json_lines(text) else read_json(text)
    except DocumentError as error:
        raise UsageError(f"{where}{f':{error.line}' if error.line else ''}: {error.message}") from None
    if isinstance(found, dict):
        found = found["findings"] if set(found) == {"findings"} else [found]
    if not isinstance(found, list):
        raise UsageError(f"{where}: must hold {_FINDING_SHAPES}")
    return found


def add_hashes(findings: list[Any], source: str) -> list[dict[str, Any]]:
    """Return each finding with the hash of its content, and its id if it has one."""
    return [_add_hash(finding, f"{source} (finding {place})") for place, finding in enumerate(findings, start=1)]


def _add_hash(finding: Any, where: str) -> dict[str, Any]:
    if not isinstance(finding, dict):
        raise UsageError(f"{where}: must be an object")
    try:
        known_by = composite_hash(finding)
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
