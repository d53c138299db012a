"""Lines with progress of a call: how they are parsed, with any content."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegboard.model.call import Progress
from pegboard.sandbox.child.pipes import MAX_LINE_BYTES
from pegboard.sandbox.progress_reports import OMITTED_PROGRESS, make_report_reader, read_report

COUNTS = st.integers(0, 10**15 - 1)
WORDS = st.text(min_size=1).map(str.strip).filter(lambda text: text and "\0" not in text)
SENDABLE = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (b"", None),
        (b"  \t ", None),
        (b"copying", Progress(message="copying")),
        (b"3/10", Progress(3, 10)),
        (b" 3 / 10  copying files ", Progress(3, 10, "copying files")),
        (b"0.5/1.25 half", Progress(0.5, 1.25, "half")),
        (b"30%", Progress(30, 100)),
        (b"30.5 % done", Progress(30.5, 100, "done")),
        (b"3/0 of nothing", Progress(3, None, "of nothing")),
        (b"3/10/2026", Progress(message="3/10/2026")),
        (b"3/10th", Progress(message="3/10th")),
        (b"-3/10", Progress(message="-3/10")),
        ("٣/١٠".encode(), Progress(message="٣/١٠")),
        (b"1" * 400 + b"/10", Progress(message="1" * 400 + "/10")),
        (b"caf\xe9", Progress(message="caf\ufffd")),
        (b'{"progress": 3}', Progress(3)),
        (b'{"progress": 3, "total": 10, "message": "m", "partial": "p"}', Progress(3, 10, "m", "p")),
        (b'{"partial": " \\n"}', Progress(partial=" \n")),
        (b'{"total": 10}', None),
        (b"{}", None),
        (b'{"progress": true, "message": 7, "partial": ["p"]}', None),
        (b'{"progress": 1, "total": -1}', Progress(1)),
        (b'{"progress": 1e999}', Progress(message='{"progress": 1e999}')),
        (b'{"progress": NaN}', Progress(message='{"progress": NaN}')),
        (b'{"progress"', Progress(message='{"progress"')),
        (b"[1, 2]", Progress(message="[1, 2]")),
    ],
)
def test_a_line_is_read_as_what_it_says(line: bytes, read: Progress | None) -> None:
    assert read_report(line) == read


@pytest.mark.parametrize("opening", [b"{", b"[", b'{"a":', b'{"progress":['])
def test_objects_nested_without_end_are_words(opening: bytes) -> None:
    line = b"{" + opening * 3000
    report = read_report(line)
    assert report == Progress(message=line.decode())


@given(COUNTS, st.integers(1, 10**15 - 1), WORDS)
@settings(database=None)
def test_counts_and_words_return_as_they_were_written(done: int, total: int, words: str) -> None:
    line = f"{done}/{total} {words}".encode("utf-8", "replace")
    output = words.encode("utf-8", "replace").decode()
    assert read_report(line) == Progress(done, total, output)


@given(
    st.none() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | SENDABLE,
    st.none() | SENDABLE,
)
@settings(database=None)
def test_an_object_says_what_its_fields_say(number: float | None, message: str | None, partial: str | None) -> None:
    fields = {"progress": number, "message": message, "partial": partial}
    expected = None if set(fields.values()) == {None} else Progress(number, None, message, partial)
    assert read_report(json.dumps(fields).encode()) == expected


@given(st.binary(max_size=300) | st.binary(max_size=100).map(lambda data: b'{"progress":' + data))
@settings(database=None)
def test_whatever_bytes_come_numbers_are_finite_and_texts_are_texts(line: bytes) -> None:
    report = read_report(line)
    if report is not None:
        assert all(number is None or math.isfinite(number) for number in (report.progress, report.total))
        assert all(text is None or text.encode() for text in (report.message, report.partial))


def test_it_is_reported_where_lines_are_missing_or_cut() -> None:
    received: list[Progress] = []
    take = make_report_reader(received.append)
    take(b"one\n\ntwo")
    take(b"\nthree\n" + b"x" * MAX_LINE_BYTES + b"\n" + b'{"partial": "'.ljust(MAX_LINE_BYTES, b"x"))
    found = [
        OMITTED_PROGRESS,
        Progress(message="three"),
        Progress(message="x" * MAX_LINE_BYTES),
        OMITTED_PROGRESS,
        OMITTED_PROGRESS,
    ]
    assert received == [Progress(message="one"), Progress(message="two"), *found]


def test_a_subscriber_that_raises_receives_no_more_and_affects_no_other_call() -> None:
    received: list[Progress] = []

    def listen(progress: Progress) -> None:
        received.append(progress)
        raise ValueError("not today")

    take = make_report_reader(listen)
    take(b"one\ntwo")
    take(b"three")
    assert received == [Progress(message="one")]
