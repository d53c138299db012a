"""Printed output that was cut off does not end with half of a secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.confined_call import mask_partial_secret
from pegboard.model.secrets import MASK

few = st.text("ab", max_size=12)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key: correct ho", f"key: {MASK}"),
        ("key: correct horse", "key: correct horse"),  # a complete secret was masked before
        ("key: cor", "key: cor"),
        ("corrcorre", f"corr{MASK}"),
        ("corre ", "corre "),
        ("", ""),
    ],
)
def test_the_beginning_of_a_secret_at_the_end_is_masked(text: str, shown: str) -> None:
    assert mask_partial_secret(text, ("", "other", "correct horse")) == shown


@given(text=few, secrets=st.lists(few, max_size=3))
def test_what_is_masked_is_the_longest_beginning_of_any(text: str, secrets: list[str]) -> None:
    halves = [secret[:length] for secret in secrets for length in range(4, len(secret))]
    longest = max((len(half) for half in halves if text.endswith(half)), default=0)
    assert mask_partial_secret(text, secrets) == (text[:-longest] + MASK if longest else text)


def test_a_secret_that_repeats_itself_a_million_times_takes_one_look_at_each_letter() -> None:
    secret = "x" * 10**6 + "y" * 10
    assert mask_partial_secret("y" * 1000 + "x" * 10**6, (secret,)) == "y" * 1000 + MASK
    assert mask_partial_secret("x" * 10**6 + "z", (secret,)) == "x" * 10**6 + "z"
