"""Compares the prompts, resources and templates that a server lists with those that its owner accepted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pegboard.kinds.import_target import list_differences
from pegboard.model.import_report import EntryChanges, LeftOut
from pegboard.model.json_text import json_text
from pegboard.model.mcp_peer import IDENTITY_FIELDS, EntryKind
from pegboard.model.registered_upstream import Entries, EntryState, PinnedEntry

# Limits for what is stored of one server: characters of one entry, entries of one kind, characters of all entries.
MAX_ENTRY_CHARS = 32_768
MAX_PINNED_ENTRIES = 10_000
MAX_PINNED_CHARS = 2**21
MAX_NAME_CHARS = 2_000

# The text that models and people read. Icons, sizes and dates may change without review.
_DIGEST_FIELDS: Mapping[EntryKind, tuple[str, ...]] = {
    "prompts": ("name", "title", "description", "arguments"),
    "resources": ("uri", "name", "title", "description", "mimeType"),
    "resourceTemplates": ("uriTemplate", "name", "title", "description", "mimeType"),
}


def compute_entry_digest(kind: EntryKind, entry: Mapping[str, Any]) -> str:
    """Return the digest of a definition, independent of the order of its keys."""
    whole = {name: entry.get(name) for name in _DIGEST_FIELDS[kind]}
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def pin_entries(
    kind: EntryKind, listed: Sequence[Mapping[str, Any]], mask: Callable[[Any], Any]
) -> tuple[list[PinnedEntry], list[LeftOut]]:
    """Return the listed entries with digests, and those that cannot be used; `mask` replaces credentials in a value."""
    found: dict[str, PinnedEntry] = {}
    left_out: list[LeftOut] = []
    for each in listed:
        name = each.get(IDENTITY_FIELDS[kind])
        if not isinstance(name, str) or not name:
            left_out.append(LeftOut(kind, f"an entry has no '{IDENTITY_FIELDS[kind]}'"))
        elif len(name) > MAX_NAME_CHARS:
            left_out.append(LeftOut(f"{name[:100]}…", f"its name has more than {MAX_NAME_CHARS:,} characters"))
        elif name not in found:
            entry = mask(each)
            if entry[IDENTITY_FIELDS[kind]] != name:
                # It could not be requested by a masked name.
                left_out.append(LeftOut(mask(name)[:200], "its name has a credential of the server in it"))
            elif len(json_text(entry)) > MAX_ENTRY_CHARS:
                left_out.append(LeftOut(name[:200], f"it has more than {MAX_ENTRY_CHARS:,} characters"))
            else:
                found[name] = PinnedEntry(name, compute_entry_digest(kind, each), entry)
    return list(found.values()), left_out


@dataclass(frozen=True, slots=True)
class EntryComparison:
    """The entries of a server after a comparison, and the differences."""

    entries: Entries
    changes: dict[EntryKind, EntryChanges] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)


def compare_entries(
    pinned: Entries,
    live: Mapping[EntryKind, Sequence[PinnedEntry]],
    *,
    is_adding: bool,
    accepts: Callable[[EntryKind, str, str | None], bool] = lambda _kind, _name, _digest: False,
    is_import: bool = False,
) -> EntryComparison:
    """Compare the kinds that are in `live`; other kinds stay as they are.

    A new entry is pinned with `is_adding`. A changed one keeps its accepted definition, and is marked as drifted unless
    `accepts` returns True for its kind, its name and the digest of its new definition. One that is no longer listed is
    marked as gone, so that it cannot return with another definition; if that is accepted (with None as the digest), it
    is forgotten. With `is_import`, icons and other members that are not pinned are updated.
    """
    after: dict[EntryKind, tuple[PinnedEntry, ...]] = dict(pinned)
    result = EntryComparison(after)
    free = MAX_PINNED_CHARS - sum(len(json_text(each.entry)) for each in _iterate_entries(pinned)) if is_adding else 0
    for kind, listed in live.items():
        changes = EntryChanges()
        now = {each.name: each for each in listed}
        entries = [
            kept
            for each in pinned.get(kind, ())
            if (
                kept := _compare_entry(
                    each, now.pop(each.name, None), changes, accepts=partial(accepts, kind), updates=is_import
                )
            )
        ]
        for each in now.values() if is_adding else ():
            size = len(json_text(each.entry))
            if len(entries) >= MAX_PINNED_ENTRIES or size > free:
                limit = f"{MAX_PINNED_ENTRIES:,} {kind} or {MAX_PINNED_CHARS:,} characters"
                result.left_out.append(LeftOut(each.name[:200], f"the server has more than {limit}"))
                continue
            free -= size
            entries.append(each)
            changes.created.append(each.name)
        after[kind] = tuple(entries)
        if not entries:
            del after[kind]
        if any(vars(changes).values()):
            result.changes[kind] = changes
    return result


def _compare_entry(
    pinned: PinnedEntry,
    live: PinnedEntry | None,
    changes: EntryChanges,
    *,
    accepts: Callable[[str, str | None], bool],
    updates: bool,
) -> PinnedEntry | None:
    """Return the entry with its state, or None to forget it, and note what is different."""
    if live is None:
        changes.gone.append(pinned.name)
        return None if accepts(pinned.name, None) else _set_state(pinned, "gone")
    if live.digest == pinned.digest:
        changes.unchanged.append(pinned.name)
        return live if updates else _set_state(pinned, "active")
    changes.digests[pinned.name] = live.digest
    changes.changes[pinned.name] = list_differences(pinned.entry, {**dict.fromkeys(pinned.entry), **live.entry})
    if accepts(pinned.name, live.digest):
        changes.updated.append(pinned.name)
        return live
    changes.drifted.append(pinned.name)
    return _set_state(pinned, "drifted")


def _set_state(entry: PinnedEntry, state: EntryState) -> PinnedEntry:
    return entry if entry.state == state else replace(entry, state=state)


def _iterate_entries(entries: Entries) -> Iterator[PinnedEntry]:
    for some in entries.values():
        yield from some
