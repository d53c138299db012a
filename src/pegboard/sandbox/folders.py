"""Work folders for calls that have no file system of their own."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import tempfile

from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)

# Far more than there are folders within folders; a process that outlived its call may keep on making some.
_MOST_ROUNDS = 10_000
_AS_IT_IS = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


def make() -> str:
    """An empty folder that nobody else may read; the call's supervisor gives it to the call's user."""
    return os.path.realpath(tempfile.mkdtemp(prefix="pegboard-call-"))


def remove(folder: str) -> None:
    """Remove the folder and all that is in it, however deep, whatever modes a tool has given to it."""
    try:
        top = _opened(folder, None)
        try:
            _empty(top)
        finally:
            os.close(top)
        os.rmdir(folder)  # noqa: PTH106
    except OSError as error:
        if os.path.lexists(folder):
            log.error("sandbox_folder_left", folder=folder, why=error.strerror)  # noqa: TRY400 -- this says it all


def _empty(top: int) -> None:
    """Remove what is in the open folder `top`.

    What a folder in it holds is first moved up beside it: no path gets too long, and nothing is done recursively.
    """
    rounds = 0
    while names := os.listdir(top):
        rounds += 1
        if rounds > _MOST_ROUNDS:
            raise OSError(errno.ENOTEMPTY, "something keeps writing to it")
        for name in names:
            if not _is_folder(name, top):
                os.unlink(name, dir_fd=top)
                continue
            inner = _opened(name, top)
            try:
                for below in os.listdir(inner):  # noqa: PTH208 -- of an open folder
                    if not _is_folder(below, inner):
                        os.unlink(below, dir_fd=inner)
                        continue
                    # A folder that may not be written to may not be moved either.
                    os.close(_opened(below, inner))
                    os.rename(below, secrets.token_hex(16), src_dir_fd=inner, dst_dir_fd=top)
            finally:
                os.close(inner)
            os.rmdir(name, dir_fd=top)


def _is_folder(name: str, folder: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _opened(name: str, folder: int | None) -> int:
    """The folder, open, after its owner was given every right to it; links are not followed."""
    found = os.open(name, _AS_IT_IS, dir_fd=folder)
    try:
        place = f"/proc/self/fd/{found}"
        os.chmod(place, stat.S_IRWXU)  # noqa: PTH101
        return os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.close(found)
