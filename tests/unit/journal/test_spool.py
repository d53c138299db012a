"""The spool file: entries are stored completely or not at all, if the disk or the process fails."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegboard.journal.spool import RESERVED_BYTES, Spool, SpoolContent, get_spool_path
from pegboard.model.ids import new_id

# Small, so that files also exceed it.
SMALL = 300
Batches = list[list[bytes]]
entries = st.binary(max_size=120)
batches = st.lists(st.lists(entries, max_size=4), max_size=5)


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    made = Spool.create(tmp_path / "spools", new_id())
    yield made
    made.close(remove=False)


def left_behind(spool: Spool) -> Path:
    """The file of a writer that has ended."""
    spool.close(remove=False)
    return spool.path


def adopt(path: Path) -> Spool:
    spool = Spool.adopt(path, reserve=SMALL)
    assert spool is not None
    return spool


def adopted(path: Path) -> SpoolContent:
    spool = adopt(path)
    content = spool.read()
    spool.close(remove=False)
    return content


@contextmanager
def write_spool(appends: Batches) -> Iterator[tuple[Path, list[bytes], int]]:
    """Return a dead writer's spool: its path, its entries, and its size in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        spool = Spool.create(Path(folder), new_id(), reserve=SMALL)
        for batch in appends:
            spool.append(batch)
        path = left_behind(spool)
        yield path, [entry for batch in appends for entry in batch], len(path.read_bytes().rstrip(b"\0"))


def test_a_new_spool_is_its_owners_alone_and_has_its_room_on_the_disk(spool: Spool) -> None:
    status = spool.path.stat()
    assert (status.st_mode & 0o777, spool.path.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert status.st_blocks * 512 >= status.st_size == RESERVED_BYTES
    assert spool.read() == SpoolContent([], damaged=False)
    assert [path.name for path in spool.path.parent.iterdir()] == [spool.path.name]


@pytest.mark.parametrize("error", [AttributeError(), OSError(errno.EOPNOTSUPP, "not supported")])
def test_if_space_cannot_be_reserved_zeros_are_written(tmp_path: Path, error: Exception) -> None:
    with patch.object(os, "posix_fallocate", side_effect=error):
        spool = Spool.create(tmp_path, new_id())
    assert spool.path.stat().st_blocks * 512 >= RESERVED_BYTES
    assert adopted(left_behind(spool)) == SpoolContent([], damaged=False)


@given(batches, st.data())
def test_a_cut_file_gives_its_whole_entries_and_says_that_it_is_cut(appends: Batches, data: st.DataObject) -> None:
    with write_spool(appends) as (path, kept, used):
        size = data.draw(st.integers(0, max(SMALL, used)), "size")
        os.truncate(path, size)
        content = adopted(path)
        assert content.entries == kept[: len(content.entries)]
        assert content.damaged == (size <= used)
        assert len(content.entries) == len(kept) or content.damaged


@given(batches, st.data())
def test_a_changed_byte_costs_at_most_the_entry_it_is_in(appends: Batches, data: st.DataObject) -> None:
    with write_spool(appends) as (path, kept, used):
        raw = bytearray(path.read_bytes())
        breaks = [place for place, byte in enumerate(raw) if byte == ord("\n")]
        place = data.draw(st.one_of(st.integers(0, used), st.sampled_from([used, *breaks])), "place")
        raw[place] ^= data.draw(st.integers(1, 255), "change")
        path.write_bytes(raw)
        content = adopted(path)
        without_one = [kept[:n] + kept[n + 1 :] for n in range(len(kept))]
        assert content.entries == kept or (content.damaged and content.entries in without_one)
        # The line break before an entry only marks its start; losing it loses no data.
        assert content.damaged or raw[place] == 0


@given(batches, st.data())
def test_what_is_read_was_written_whatever_else_is_in_the_file(appends: Batches, data: st.DataObject) -> None:
    with write_spool(appends) as (path, kept, used):
        raw = path.read_bytes()
        lines = [0, used, *(found.start() + 1 for found in re.finditer(b"\n\n", raw))]
        span = st.tuples(*[st.one_of(st.sampled_from(lines), st.integers(0, used))] * 2).map(sorted)
        start, stop = data.draw(span, "what is overwritten")
        copy = span.map(lambda places: raw[places[0] : places[1]])
        noise = data.draw(st.one_of(st.binary(), copy, st.just(bytes(stop - start)), st.just(b"")), "what with")
        path.write_bytes(raw[:start] + noise + raw[stop:])
        content = adopted(path)
        left = iter(kept)
        assert all(entry in left for entry in content.entries)
        # The last entries may be missing completely; every other damage is reported.
        assert content.entries == kept or content.damaged or raw.startswith(path.read_bytes().rstrip(b"\0"))


@given(st.binary())
def test_a_file_that_is_no_spool_holds_nothing_and_is_damaged(raw: bytes) -> None:
    with write_spool([]) as (path, _, _):
        path.write_bytes(raw)
        assert adopted(path) == SpoolContent([], damaged=not raw or raw.strip(b"\0") != b"")


def test_an_entry_that_holds_another_file_is_not_read_as_one(spool: Spool) -> None:
    spool.append([b"secret"])
    first = spool.path.read_bytes().rstrip(b"\0")
    spool.append([first])
    raw = spool.path.read_bytes()
    other = get_spool_path(spool.path.parent, new_id())
    other.write_bytes(raw)
    assert adopted(other) == SpoolContent([], damaged=True)
    spool.path.write_bytes(raw.replace(b"c2VjcmV0", b"c2VjcmV1"))
    assert adopted(left_behind(spool)) == SpoolContent([first], damaged=True)


acts = st.sampled_from(["append", "unsynced", "no room", "broken", "clear", "adopt"])


def fail(spool: Spool, how: str, batch: list[bytes], room: int) -> None:
    """Let an append fail when it is synced, or after some bytes; once, or always."""
    pwrite, fsync, faults = os.pwrite, os.fsync, [how]

    def write(descriptor: int, content: memoryview, offset: int) -> int:
        if how == "unsynced" or not faults:
            return pwrite(descriptor, content, offset)
        nonlocal room
        if room and len(content) > room:
            room, write_spool = 0, pwrite(descriptor, content[:room], offset)
            return write_spool
        if how == "no room":
            faults.clear()
        raise OSError(errno.ENOSPC, "no room")

    def sync(descriptor: int) -> None:
        if faults:
            faults.clear()
            raise OSError(errno.EIO, "not synced")
        fsync(descriptor)

    with patch.multiple(os, pwrite=write, fsync=sync), pytest.raises(OSError, match=r"no room|not synced"):
        spool.append(batch)


@given(st.lists(st.tuples(acts, st.lists(entries, min_size=1, max_size=3)), max_size=12), st.integers(0, 200))
@example([("broken", [b"a" * 50] * 3), ("append", [b""]), ("adopt", [])], 150)
def test_an_append_keeps_everything_it_is_given_or_nothing(steps: list[tuple[str, list[bytes]]], room: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        spool = Spool.create(Path(folder), new_id(), reserve=SMALL)
        kept, given_up, damaged = list[bytes](), list[bytes](), False
        for name, batch in steps:
            if name == "append":
                spool.append(batch)
                kept, given_up = kept + batch, []
            elif name == "clear":
                spool.clear()
                kept, given_up, damaged = [], [], False
            elif name == "adopt":
                spool = adopt(left_behind(spool))
                content = spool.read()
                # Only if it cannot even be overwritten with zeros does a part of a failed append remain.
                assert content.entries[: len(kept)] == kept
                assert set(content.entries[len(kept) :]) <= set(given_up)
                assert given_up or damaged or not content.damaged
                kept, damaged = content.entries, content.damaged
            else:
                fail(spool, name, batch, room)
                given_up = given_up + batch if name == "broken" else []
            assert spool.read().entries == kept
        spool.close(remove=False)


_FULL = """
import pathlib, resource, sys
from pegboard.model.ids import new_id
from pegboard.journal.spool import Spool
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
def refused(entries):
    try:
        spool.append(entries)
    except OSError as error:
        return error.strerror
spool = Spool.create(pathlib.Path(sys.argv[1]), new_id(), reserve=2000)
limit(2000)
spool.append([b"in the reserve"])
print(refused([b"x" * 2000]))
limit(500)
print(refused([b"y" * 100, b"y" * 1000]))
spool.append([b"z"])
limit(-1)
spool.append([b"x" * 2000])
print(spool.path)
"""


def test_on_a_full_disk_the_reserve_is_used_and_nothing_is_left_half(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", _FULL, str(tmp_path)], capture_output=True, text=True, check=True)
    *refusals, path = run.stdout.splitlines()
    assert refusals == [os.strerror(errno.EFBIG)] * 2
    assert adopted(Path(path)) == SpoolContent([b"in the reserve", b"z", b"x" * 2000], damaged=False)


def test_it_never_grows_beyond_its_bound(tmp_path: Path) -> None:
    spool = Spool.create(tmp_path, new_id(), reserve=SMALL, max_bytes=1000)
    spool.append([b"a" * 100])
    with pytest.raises(OSError, match=rf"\[Errno {errno.ENOSPC}\] .* at most 1000 bytes"):
        spool.append([b"b", b"c" * 700])
    spool.append([b"d" * 300])
    assert adopted(left_behind(spool)) == SpoolContent([b"a" * 100, b"d" * 300], damaged=False)


def test_a_full_file_still_ends_with_a_zero(tmp_path: Path) -> None:
    for reserve in range(35, 45):
        spool = Spool.create(tmp_path, new_id(), reserve=reserve)
        spool.append([b"a"])
        assert adopted(left_behind(spool)) == SpoolContent([b"a"], damaged=False)


def test_a_cleared_spool_is_empty_for_those_who_come_after_and_keeps_its_room(spool: Spool) -> None:
    spool.append([b"a" * RESERVED_BYTES, b"b"])
    assert not spool.is_empty
    spool.clear()
    assert spool.is_empty
    assert spool.path.stat().st_blocks * 512 >= RESERVED_BYTES
    assert spool.path.read_bytes() == bytes(RESERVED_BYTES)
    spool.append([b"c"])
    assert adopted(left_behind(spool)) == SpoolContent([b"c"], damaged=False)


def test_damage_under_a_living_writer_is_reported_too(spool: Spool) -> None:
    spool.append([b"a", b"b"])
    os.truncate(spool.path, len(spool.path.read_bytes().rstrip(b"\0")) - 1)
    assert spool.read() == SpoolContent([b"a"], damaged=True)


def test_threads_take_turns_and_find_it_closed_when_it_is(spool: Spool) -> None:
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: spool.append([b"%d" % number] * 3), range(40)))
    kept = spool.read().entries
    assert kept[::3] == kept[2::3]
    assert sorted(kept[::3], key=int) == [b"%d" % number for number in range(40)]
    spool.close(remove=True)
    spool.close(remove=True)
    for use in (lambda: spool.append([b"late"]), spool.read, spool.clear, spool.set_aside):
        with pytest.raises(OSError, match="the spool is closed"):
            use()


@pytest.mark.parametrize("name", ["fsync", "posix_fallocate"])
def test_nothing_is_left_if_no_spool_can_be_made(tmp_path: Path, name: str) -> None:
    with patch.object(os, name, side_effect=OSError(errno.EIO, "broken")), pytest.raises(OSError, match="broken"):
        Spool.create(tmp_path / "spools", new_id())
    assert list((tmp_path / "spools").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        Spool.create(tmp_path / "file" / "spools", new_id())


def test_a_spool_that_is_there_is_never_replaced(spool: Spool) -> None:
    spool.append([b"a"])
    for _ in range(2):
        with pytest.raises(FileExistsError):
            Spool.create(spool.path.parent, spool.path.stem)
        left_behind(spool)
    assert adopted(spool.path).entries == [b"a"]
