"""The pinned prompts and resources of a server, and changes of them by the server."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.kinds.mcp import pinned_entries
from pegboard.kinds.mcp.pinned_entries import compare_entries, compute_entry_digest, pin_entries
from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.mcp_peer import EntryKind
from pegboard.model.registered_upstream import PinnedEntry


def pin(*entries: dict[str, Any]) -> tuple[PinnedEntry, ...]:
    """Prompts as they are pinned."""
    found, left_out = pin_entries("prompts", entries, lambda value: value)
    assert left_out == []
    return tuple(found)


def prompts(*entries: dict[str, Any]) -> dict[EntryKind, tuple[PinnedEntry, ...]]:
    """A list of prompts."""
    return {"prompts": pin(*entries)}


ONE, TWO = {"name": "one", "description": "First."}, {"name": "two"}


@pytest.mark.parametrize(
    ("kind", "field", "is_pinned"),
    [
        ("prompts", "arguments", True),
        ("prompts", "title", True),
        ("prompts", "_meta", False),
        ("resources", "mimeType", True),
        ("resources", "size", False),
        ("resources", "annotations", False),
        ("resourceTemplates", "description", True),
        ("resourceTemplates", "icons", False),
    ],
)
def test_what_models_and_people_read_is_pinned(kind: EntryKind, field: str, is_pinned: bool) -> None:
    entry = {"name": "n", "uri": "u", "uriTemplate": "t"}
    changed = compute_entry_digest(kind, {**entry, field: "x"}) != compute_entry_digest(kind, entry)
    assert changed is is_pinned


def test_states_follow_the_list_and_return() -> None:
    pinned = prompts(ONE, TWO)
    found = compare_entries(pinned, prompts({**ONE, "description": "Other."}), is_adding=False)
    assert [(each.name, each.state, each.entry) for each in found.entries["prompts"]] == [
        ("one", "drifted", ONE),
        ("two", "gone", TWO),
    ]
    changes = found.changes["prompts"]
    assert (changes.drifted, changes.gone) == (["one"], ["two"])
    assert changes.changes["one"] == {"description": {"before": "First.", "after": "Other."}}
    assert compare_entries(found.entries, prompts(ONE, TWO), is_adding=False).entries == pinned


def test_kinds_that_were_not_listed_are_unchanged() -> None:
    pinned = prompts(ONE)
    assert compare_entries(pinned, {"resources": ()}, is_adding=True).entries == pinned


def test_new_entries_are_pinned_only_if_they_are_to_be_added() -> None:
    live = prompts(ONE, TWO)
    assert compare_entries(prompts(ONE), live, is_adding=False).entries == prompts(ONE)
    found = compare_entries(prompts(ONE), live, is_adding=True)
    assert (found.entries, found.changes["prompts"].created) == (prompts(ONE, TWO), ["two"])


def test_one_of_several_changes_can_be_accepted() -> None:
    live = prompts({**ONE, "title": "1"}, {**TWO, "title": "2"})
    found = compare_entries(
        prompts(ONE, TWO), live, is_adding=False, accepts=lambda _kind, name, _digest: name == "two"
    )
    assert [each.state for each in found.entries["prompts"]] == ["drifted", "active"]
    assert found.changes["prompts"].updated == ["two"]
    assert found.entries["prompts"][1].entry["title"] == "2"


def test_what_is_not_pinned_is_updated_by_an_import_only() -> None:
    live = prompts({**ONE, "icons": [{"src": "x"}]})
    assert compare_entries(prompts(ONE), live, is_adding=False).entries == prompts(ONE)
    assert compare_entries(prompts(ONE), live, is_adding=True, is_import=True).entries == live


def test_the_number_and_the_size_of_entries_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned_entries, "MAX_PINNED_ENTRIES", 2)
    found = compare_entries({}, prompts(ONE, TWO, {"name": "three"}), is_adding=True)
    assert [each.name for each in found.entries["prompts"]] == ["one", "two"]
    assert [each.name for each in found.left_out] == ["three"]
    monkeypatch.setattr(pinned_entries, "MAX_PINNED_CHARS", 60)
    found = compare_entries(prompts(ONE), {"resources": pin(TWO, {"name": "x" * 50})}, is_adding=True)
    assert [each.name for each in found.entries["resources"]] == ["two"]
    assert len(found.left_out) == 1


def test_credentials_are_masked_and_a_name_with_one_is_left_out() -> None:
    mask = SecretMask(["a-long-secret"])
    listed = [{"name": "one", "description": "with a-long-secret"}, {"name": "a-long-secret"}]
    found, left_out = pin_entries("prompts", listed, mask.mask_value)
    assert [each.entry["description"] for each in found] == ["with ********"]
    assert [each.name for each in left_out] == ["********"]
