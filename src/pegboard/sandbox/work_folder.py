"""Work folders for calls that have no file system of their own.

Not removed by `shutil.rmtree`, which fails on folders without permissions, and on trees that are too deep for a path.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import tempfile

from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Far more than the depth of any tree of folders; a process that outlived its call may keep creating folders.
MAX_ROUNDS = 10_000
_OPEN_FLAGS = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def create_work_folder() -> str:
    """Create an empty folder that only its owner may read; the supervisor changes its owner to the user of the call."""
    return os.path.realpath(tempfile.mkdtemp(prefix="pegboard-call-"))


def remove_work_folder(folder: str) -> None:
    """Remove the folder and its contents, at any depth and with any file modes; an error is logged."""
    try:
        top = _open_folder(folder, None)
        try:
            _empty_folder(top)
        finally:
            os.close(top)
        os.rmdir(folder)  # noqa: PTH106
    except OSError as error:
        if os.path.lexists(folder):
            log.error("sandbox_folder_left", folder=folder, why=error.strerror)  # noqa: TRY400 -- `why` is enough


def _empty_folder(top: int) -> None:
    """Remove the contents of the open folder `top`.

    The subfolders of each folder are first moved up into `top`, so that no path gets too long and no recursion is
    needed.
    """
    rounds = 0
    while names := os.listdir(top):
        rounds += 1
        if rounds > MAX_ROUNDS:
            raise OSError(errno.ENOTEMPTY, "something keeps writing to it")
        for name in names:
            if not _is_folder(name, top):
                os.unlink(name, dir_fd=top)
                continue
            inner = _open_folder(name, top)
            try:
                for below in os.listdir(inner):  # noqa: PTH208 -- of an open folder
                    if not _is_folder(below, inner):
                        os.unlink(below, dir_fd=inner)
                        continue
                    # A folder without write permission cannot be moved either; _open_folder adds it.
                    os.close(_open_folder(below, inner))
                    os.rename(below, secrets.token_hex(16), src_dir_fd=inner, dst_dir_fd=top)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)


def _is_folder(name: str, folder: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _open_folder(name: str, folder: int | None) -> int:
    """Return a file descriptor of the folder, after giving its owner all permissions; do not follow symbolic links."""
    found = os.open(name, _OPEN_FLAGS, dir_fd=folder)
    try:
        place = f"/proc/self/fd/{found}"
        os.chmod(place, stat.S_IRWXU)  # noqa: PTH101
        return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.close(found)
