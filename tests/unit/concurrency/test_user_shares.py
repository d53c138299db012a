"""Slots that users share: limited in total, with some reserved for other users."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pegboard.concurrency.user_shares import FairShares
from tests.user_references import KeptUsers


@given(most=st.integers(0, 20), steps=st.lists(st.tuples(st.booleans(), st.sampled_from("abcd")), max_size=80))
def test_a_user_takes_one_more_while_they_hold_fewer_than_are_free(most: int, steps: list[tuple[bool, str]]) -> None:
    shares, users = FairShares(most), KeptUsers("abcd")
    taken: Counter[str] = Counter()
    for taking, user in steps:
        if taking:
            has_room = taken[user] < most - taken.total()
            assert shares.has_free_slot(users[user]) == has_room
            assert shares.take(users[user]) == has_room
            taken[user] += has_room
        elif taken[user]:
            shares.give_back(users[user])
            taken[user] -= 1
    for user in "abcd":
        assert shares.refusal_text(user, "calls").startswith(f"You have {taken[user]} of at most {most} calls")
    assert not users.forget(but={user for user, count in taken.items() if count}), "nothing is kept of former users"


def test_one_user_alone_takes_half_and_the_next_half_of_the_rest() -> None:
    shares = FairShares(8)
    assert [sum(shares.take(user) for _ in range(9)) for user in "abcd"] == [4, 2, 1, 1]
    assert shares.refusal_text("b", "calls") == "You have 2 of at most 8 calls, and the 0 left are for other users"
