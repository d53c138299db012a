"""Files of findings: a list, an object with `findings`, one finding, or one a line."""

from __future__ import annotations

from typing import Any

from pegboard.core.findings import composite_hash
from pegboard.registry.documents import Misread, read_json, read_text
from pegboard.surfaces.cli.failures import Usage
from pegboard.surfaces.cli.files import read_input

_SHAPES = 'a list of findings, {"findings": [...]}, or one finding a line'


def load(source: str) -> list[Any]:
    """The findings in a file, or on standard input for `-`."""
    where = "standard input" if source == "-" else source
    try:
        text = read_text(read_input(source))
        found = _lines(text) if _is_lines(text) else read_json(text)
    except Misread as error:
        raise Usage(f"{where}{f':{error.line}' if error.line else ''}: {error.message}") from None
    if isinstance(found, dict):
        found = found["findings"] if set(found) == {"findings"} else [found]
    if not isinstance(found, list):
        raise Usage(f"{where}: must hold {_SHAPES}")
    return found


def hashed(findings: list[Any], source: str) -> list[dict[str, Any]]:
    """Each finding as the baseline takes it, by the hash of its content and the id it has, if it has one."""
    return [_hashed(finding, f"{source} (finding {place})") for place, finding in enumerate(findings, start=1)]


def _hashed(finding: Any, where: str) -> dict[str, Any]:
    if not isinstance(finding, dict):
        raise Usage(f"{where}: must be an object")
    try:
        known_by = composite_hash(finding)
    except ValueError as error:
        raise Usage(f"{where}: {error}") from None
    finding_id = next((finding[key] for key in ("finding_id", "id") if finding.get(key) is not None), None)
    made: dict[str, Any] = {
        "finding_id": known_by if finding_id is None else str(finding_id),
        "composite_hash": known_by,
    }
    return made | ({"seen_at": finding["seen_at"]} if finding.get("seen_at") is not None else {})


def _is_lines(text: str) -> bool:
    """Whether the first line is an object by itself, and not all there is."""
    first, _, rest = text.strip().partition("\n")
    if not (first.startswith("{") and rest.lstrip().startswith("{")):
        return False
    try:
        read_json(first)
    except Misread:
        return False
    return True


def _lines(text: str) -> list[Any]:
    found = []
    # Not `splitlines`, which would also end lines at characters that JSON has within texts.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                found.append(read_json(line))
            except Misread as error:
                raise Misread(error.message, number) from None
    return found
