"""Credentials are masked wherever an upstream repeats them."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.call_errors import UpstreamFailed

SECRET = 'pa"ss\\wörd'


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        (f"it is {SECRET}!", "it is ********!"),
        ({"a": [{SECRET: SECRET}], "b": 1}, {"a": [{"********": "********"}], "b": 1}),
        ({"a": 123456789}, {"a": "********"}),
        ({"a": [2**80, f"{SECRET}"]}, {"a": [2**80, "********"]}),
    ],
)
def test_a_secret_is_hidden_at_any_depth(value: Any, masked: Any) -> None:
    mask = SecretMask([SECRET, "123456789"])
    assert mask.count_bytes_to_mask(value)
    assert mask.mask_value(value) == masked


def test_what_holds_no_secret_need_not_be_searched() -> None:
    value = {"a": ["nothing", "back\\slash"]}
    assert SecretMask([SECRET]).count_bytes_to_mask(value) == 0
    assert SecretMask([]).count_bytes_to_mask({"a": 2**80}) == 0
    assert SecretMask([SECRET]).parse_json(value, b'{"a": ["nothing", "back\\\\slash"]}') is value


def test_a_longer_secret_goes_before_one_that_is_a_part_of_it() -> None:
    assert SecretMask(["secret", "secret-of-mine"]).text("secret-of-mine, secret") == "********, ********"


def test_short_values_are_no_secrets() -> None:
    assert SecretMask(["12345"]).text("12345 apples") == "12345 apples"


def test_errors_keep_their_class_and_lose_the_secret() -> None:
    error = SecretMask(["s3cr3t-s3cr3t"]).error(UpstreamFailed("refused s3cr3t-s3cr3t"))
    assert isinstance(error, UpstreamFailed)
    assert str(error) == error.message == "refused ********"


def test_many_secrets_are_not_held_against_each_other() -> None:
    class Counted(str):
        looked = 0

        def __contains__(self, other: object) -> bool:
            Counted.looked += 1
            return super().__contains__(other)  # type: ignore[operator]

    mask = SecretMask(Counted(f"secret-{place}") for place in range(100))
    assert Counted.looked == 0
    assert mask.data(b"secret-7 secret-77 nothing") == b"******** ******** nothing"
