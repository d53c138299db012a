"""The hash that identifies a finding."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.model.baseline_finding import VOLATILE_KEYS, composite_hash, read_hash

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
FINDINGS = st.dictionaries(st.text().filter(lambda key: key not in VOLATILE_KEYS), JSON, min_size=1, max_size=5)


def test_it_is_the_sha_256_of_canonical_json() -> None:
    text = '{"host":"db-1","ports":[22,80.5],"title":"Größe"}'
    finding = {"title": "Größe", "ports": [22, 80.5], "host": "db-1"}
    assert composite_hash(finding) == hashlib.sha256(text.encode()).hexdigest()
    assert composite_hash(finding) == "e99962efc4834bb50bae03762729831582fbe8215096d0acee0fd6bc4b656260"


@given(FINDINGS, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(finding: dict[str, Any], random: Any) -> None:
    keys = list(finding)
    random.shuffle(keys)
    assert composite_hash({key: finding[key] for key in keys}) == composite_hash(finding)
    assert composite_hash(json.loads(json.dumps(finding))) == composite_hash(finding)


@given(FINDINGS, st.dictionaries(st.sampled_from(sorted(VOLATILE_KEYS)), JSON))
def test_what_is_volatile_does_not_matter(finding: dict[str, Any], volatile: dict[str, Any]) -> None:
    assert composite_hash({**finding, **volatile}) == composite_hash(finding)


def test_within_the_content_nothing_is_volatile() -> None:
    assert composite_hash({"rule": {"id": 1}}) != composite_hash({"rule": {"id": 2}})


def test_what_is_ignored_can_be_chosen() -> None:
    assert composite_hash({"id": 1, "a": 1}, ignore=()) != composite_hash({"id": 2, "a": 1}, ignore=())
    assert composite_hash({"a": 1, "b": 2}, ignore={"b"}) == composite_hash({"a": 1}, ignore=())


@pytest.mark.parametrize(
    "finding", [{"id": 1}, {}, {"a": float("nan")}, {"a": object()}, {"a": "\ud800"}, {"a": 1, 2: 3}]
)
def test_empty_content_and_invalid_json_are_refused(finding: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"nothing of the finding|not JSON"):
        composite_hash(finding)


def test_a_hash_is_kept_in_lower_case() -> None:
    assert read_hash("AB" * 32) == "ab" * 32
    assert read_hash("12" * 32) == "12" * 32


@pytest.mark.parametrize("value", ["", "a" * 63, "a" * 65, "g" * 64, "a" * 63 + "\n", "٣" * 64, 7, None, b"a" * 64])
def test_what_is_no_hash_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="64 hexadecimal characters"):
        read_hash(value)


def test_what_is_volatile_is_listed_on_its_page() -> None:
    page = (Path(__file__).parents[3] / "docs" / "howto" / "baseline.md").read_text(encoding="utf-8")
    listed = page.partition("not of objects within it:")[2].partition("In Python")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == VOLATILE_KEYS
