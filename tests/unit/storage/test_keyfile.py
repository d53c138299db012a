"""Keys in a file that only its owner may read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pegboard.storage.keyring import FileKeyring, Key, KeyringError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "secret.key"


def restore_file(path: Path, contents: bytes) -> None:
    path.write_bytes(contents)
    path.chmod(0o600)


def test_a_fresh_board_gets_a_file_that_only_its_owner_may_read(path: Path) -> None:
    keyring = FileKeyring(path, create=True)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert keyring.trouble is None
    assert len(keyring.primary.secret) == 32
    assert keyring.root not in (None, keyring.primary.secret)


def test_the_same_keys_are_there_at_the_next_start(path: Path) -> None:
    first = FileKeyring(path, create=True)
    for again in (FileKeyring(path), FileKeyring(path, create=True)):
        assert again.primary == first.primary
        assert again.root == first.root


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_file_open_to_others_is_refused_and_left_unchanged(path: Path, mode: int) -> None:
    FileKeyring(path, create=True)
    path.chmod(mode)
    for create in (True, False):
        with pytest.raises(KeyringError, match=f"run: chmod 600 {path}"):
            FileKeyring(path, create=create)
    assert path.stat().st_mode & 0o777 == mode


def test_a_missing_file_is_not_made_again_unless_asked_for(path: Path) -> None:
    keyring = FileKeyring(path)
    assert keyring.keys == ()
    assert keyring.trouble == f"the key file {path} is missing; restore it from a backup"
    with pytest.raises(KeyringError, match=r"Nothing can be encrypted: the key file .* is missing"):
        keyring.primary  # noqa: B018
    with pytest.raises(KeyringError, match="is missing"):
        keyring.begin_rotation()
    assert not path.exists()


@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        (b"", "it is not JSON"),
        (b"\xff\xfe", "it is not JSON"),
        (b"[" * 100_000, "it is not JSON"),
        (b"[]", "it is not a key file of version 1"),
        (b'{"version": 2}', "it is not a key file of version 1"),
        (b'{"version": 1, "keys": []}', "it holds no keys"),
        (b'{"version": 1, "keys": [7]}', "key 1 is missing"),
        (b'{"version": 1, "keys": ["c2hvcnQ="]}', "key 1 decodes to 5 bytes"),
        (json.dumps({"version": 1, "keys": ["A" * 43]}).encode(), "root is missing"),
    ],
)
def test_a_damaged_file_does_not_stop_the_board_and_is_not_overwritten(
    path: Path, contents: bytes, reason: str
) -> None:
    path.parent.mkdir()
    restore_file(path, contents)
    keyring = FileKeyring(path, create=True)
    assert keyring.trouble is not None
    assert reason in keyring.trouble
    assert path.read_bytes() == contents


def test_a_folder_in_the_files_place_is_trouble_and_nothing_worse(path: Path) -> None:
    path.mkdir(parents=True, mode=0o700)
    trouble = FileKeyring(path, create=True).trouble
    assert trouble is not None
    assert "cannot be read" in trouble


def test_a_link_that_leads_nowhere_is_not_replaced(path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "mounted later")
    trouble = FileKeyring(path, create=True).trouble
    assert trouble is not None
    assert "is missing" in trouble
    assert path.is_symlink()


def test_a_folder_that_cannot_be_made_is_reported_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(KeyringError, match="cannot be made"):
        FileKeyring(tmp_path / "file" / "secret.key", create=True)


def test_a_file_that_returns_is_read_without_a_restart(path: Path) -> None:
    key = FileKeyring(path, create=True).primary
    contents = path.read_bytes()
    path.unlink()
    keyring = FileKeyring(path)
    assert keyring.get(key.id) is None
    restore_file(path, contents)
    assert keyring.primary == key
    assert keyring.trouble is None


def test_a_file_lost_while_running_stops_encryption_and_not_decryption(path: Path) -> None:
    keyring = FileKeyring(path, create=True)
    key, root = keyring.primary, keyring.root
    path.unlink()
    with pytest.raises(KeyringError, match="is missing"):
        keyring.primary  # noqa: B018
    assert keyring.get(key.id) == key
    assert keyring.root == root


def test_a_file_opened_to_others_while_running_stops_encryption(path: Path) -> None:
    keyring = FileKeyring(path, create=True)
    path.chmod(0o644)
    with pytest.raises(KeyringError, match="chmod 600"):
        keyring.primary  # noqa: B018
    path.chmod(0o600)
    assert keyring.trouble is not None
    assert keyring.primary.id


def test_rotation_puts_a_new_key_first_and_ends_with_it_alone(path: Path) -> None:
    keyring = FileKeyring(path, create=True)
    old, root = keyring.primary, keyring.root
    new = keyring.begin_rotation()
    assert new != old
    assert keyring.keys == FileKeyring(path).keys == (new, old)
    assert keyring.finish_rotation(new) is None
    assert keyring.keys == FileKeyring(path).keys == (new,)
    assert keyring.root == FileKeyring(path).root == root
    assert path.stat().st_mode & 0o777 == 0o600


def test_an_unfinished_rotation_is_taken_up_instead_of_starting_another(path: Path) -> None:
    begun = FileKeyring(path, create=True).begin_rotation()
    assert FileKeyring(path).begin_rotation() == begun
    assert len(FileKeyring(path).keys) == 2


def test_a_rotation_elsewhere_is_seen_when_something_is_to_be_encrypted_or_opened(path: Path) -> None:
    writer, reader, late = (FileKeyring(path, create=True) for _ in range(3))
    old = writer.primary
    rotating = FileKeyring(path)
    new = rotating.begin_rotation()
    assert writer.primary == new
    assert reader.get(new.id) == new
    rotating.finish_rotation(new)
    assert late.primary == new
    # Ciphertexts that a process read before the rotation still open in it, but not in one that starts now.
    assert late.get(old.id) == old
    assert FileKeyring(path).get(old.id) is None


def test_finishing_is_refused_when_the_keys_are_in_use_by_a_later_rotation(path: Path) -> None:
    slow, quick = FileKeyring(path, create=True), FileKeyring(path)
    first = slow.begin_rotation()
    quick.finish_rotation(first)
    second = quick.begin_rotation()
    with pytest.raises(KeyringError, match=f"another rotation, to key {second.id}"):
        slow.finish_rotation(first)
    assert FileKeyring(path).keys == (second, first)


def test_what_a_killed_writer_left_behind_is_in_no_users_way(path: Path) -> None:
    keyring = FileKeyring(path, create=True)
    leftover = path.with_name("secret.key.new")
    leftover.write_text("half a f")
    new = keyring.begin_rotation()
    assert keyring.primary == new
    assert not leftover.exists()


def test_a_file_behind_a_link_is_replaced_where_it_is(path: Path, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere.key"
    FileKeyring(real, create=True)
    path.parent.mkdir()
    path.symlink_to(real)
    new = FileKeyring(path).begin_rotation()
    assert path.is_symlink()
    assert FileKeyring(real).primary == new


_MAKE_KEYS = """
import sys
from pathlib import Path
from pegboard.storage.keyring import FileKeyring
print("ready", flush=True)
for line in sys.stdin:
    print(FileKeyring(Path(line.strip()), create=True).primary.id, flush=True)
"""


def test_processes_that_start_at_once_end_with_one_key(tmp_path: Path) -> None:
    children = [
        subprocess.Popen([sys.executable, "-c", _MAKE_KEYS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    try:
        pipes = [(child.stdin, child.stdout) for child in children]
        for _, out in pipes:
            assert out is not None
            assert out.readline() == "ready\n"
        for attempt in range(30):
            path = tmp_path / f"{attempt}" / "secret.key"
            for into, _ in pipes:
                assert into is not None
                into.write(f"{path}\n")
                into.flush()
            made = {out.readline().strip() for _, out in pipes if out is not None}
            assert made == {FileKeyring(path).primary.id}
    finally:
        for child in children:
            child.communicate(timeout=30)
    assert all(child.returncode == 0 for child in children)


def test_a_new_key_never_has_the_id_of_another(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keyring = FileKeyring(path, create=True)
    fresh = iter([keyring.primary.secret, bytes(32)])
    monkeypatch.setattr("pegboard.storage.keyring.secrets.token_bytes", lambda _size: next(fresh))
    assert keyring.begin_rotation() == Key.of(bytes(32))
