"""Progress of a confined call reaches its subscribers without the tool's credentials."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.kinds.masked_progress import MAX_MESSAGE_CHARS, MaskedProgress, StreamMask
from pegboard.model.call import Progress
from pegboard.sandbox.progress_reports import OMITTED_PROGRESS

SECRET = "correct horse battery"
PEM = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nkqhkiG9w0BAQ==\n-----END KEY-----"


def passed(secrets: list[str], *message: Progress) -> list[Progress]:
    """Return the parts of this that reach a subscriber."""
    received: list[Progress] = []
    passing = MaskedProgress(received.append, StreamMask(secrets))
    for progress in message:
        passing(progress)
    passing.end()
    return received


def joined(secrets: list[str], *pieces: str) -> str:
    received = passed(secrets, *(Progress(partial=piece) for piece in pieces))
    return "".join(progress.partial or "" for progress in received)


def test_without_secrets_all_is_passed_on_unchanged() -> None:
    message = (Progress(1, 2, "m"), Progress(partial="a"), Progress(3, None, "m", "p"))
    assert passed([], *message) == list(message)


def test_messages_pieces_and_numbers_are_masked() -> None:
    received = passed([SECRET, "1234567"], Progress(1234567, 1234567, f"has {SECRET}"), Progress(partial=f"<{SECRET}>"))
    assert received == [Progress(None, None, "has ********"), Progress(partial="<********>")]


@pytest.mark.parametrize("cut", range(1, len(SECRET)))
def test_a_secret_in_two_pieces_is_masked(cut: int) -> None:
    assert joined([SECRET], f"with {SECRET[:cut]}", f"{SECRET[cut:]}.") == "with ********."


def test_a_secret_letter_by_letter_is_masked_with_reports_in_between() -> None:
    found = [step for letter in f"is {SECRET}!" for step in (Progress(partial=letter), Progress(1, message="on"))]
    received = passed([SECRET], *found)
    assert "".join(progress.partial or "" for progress in received) == "is ********!"
    assert sum(progress.message == "on" for progress in received) == len(found) / 2


def test_what_only_began_like_a_secret_is_reported_with_what_follows() -> None:
    received = passed([SECRET], Progress(partial="that is correct"), Progress(partial=" enough"))
    assert received == [Progress(partial="that is "), Progress(partial="correct enough")]


def test_the_beginning_of_a_secret_at_the_very_end_is_not_reported() -> None:
    assert joined([SECRET], f"it is {SECRET[:9]}") == "it is ********"
    assert joined([SECRET], f"it is {SECRET[:3]}") == f"it is {SECRET[:3]}"


def test_a_secret_of_many_lines_is_masked_line_by_line() -> None:
    received = passed([PEM], *(Progress(message=line) for line in PEM.splitlines()))
    assert {progress.message for progress in received} == {"********"}
    assert joined([PEM], *(f"{line}\n" for line in PEM.splitlines())) == "********\n"


def test_a_long_message_is_cut_and_not_in_the_middle_of_a_secret() -> None:
    message = "m" * (MAX_MESSAGE_CHARS - 10) + SECRET
    assert passed([SECRET], Progress(message=message[:MAX_MESSAGE_CHARS])) == [
        Progress(message="m" * (MAX_MESSAGE_CHARS - 10) + "********")
    ]
    assert passed([], Progress(message="m" * 5000)) == [Progress(message="m" * MAX_MESSAGE_CHARS)]


@pytest.mark.parametrize("cut", range(1, len(SECRET)))
def test_if_chunks_are_missing_no_half_of_a_secret_is_reported(cut: int) -> None:
    head, tail = Progress(partial=f"with {SECRET[:cut]}"), Progress(partial=f"{SECRET[cut:]}{'.' * 30}")
    for item in ((head, OMITTED_PROGRESS, tail), (OMITTED_PROGRESS, tail), (head, OMITTED_PROGRESS)):
        received = passed([SECRET], *item)
        shown = "".join(progress.partial or "" for progress in received)
        assert SECRET[max(0, cut - 4) : cut] not in shown or cut < 4
        assert SECRET[cut:] not in shown.replace("with ", "") or cut == len(SECRET)


def test_a_gap_is_shown_where_the_next_piece_begins() -> None:
    message = (Progress(partial="a"), OMITTED_PROGRESS, Progress(1), Progress(partial="b"), Progress(partial="c"))
    assert passed([], *message) == [Progress(partial="a"), Progress(1), Progress(partial="…b"), Progress(partial="c")]


@given(st.data())
@settings(database=None, deadline=None)
def test_however_a_text_is_cut_no_secret_is_in_what_is_reported(data: st.DataObject) -> None:
    letters = st.text("ab", min_size=6, max_size=9)
    secrets = data.draw(st.lists(letters, min_size=1, max_size=3))
    text = "".join(data.draw(st.lists(st.sampled_from(secrets) | st.text("abc", max_size=5), max_size=8)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[start:end] for start, end in itertools.pairwise([0, *cuts, len(text)])]
    received = joined(secrets, *pieces)
    assert not any(secret in received for secret in secrets)
    # Only the masked text is missing.
    whole = StreamMask(secrets).text(text)
    assert received.replace("*", "").count("c") == whole.replace("*", "").count("c")


def test_text_full_of_beginnings_is_held_back_within_bounds() -> None:
    secret = "a" * 5000 + "b"
    received = passed([secret], *(Progress(partial="a" * 4000) for _ in range(5)), Progress(partial="c"))
    assert "".join(progress.partial or "" for progress in received) == "a" * 20_000 + "c"
    assert len(received[-1].partial or "") <= 5001
