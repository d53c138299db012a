"""Restricts the files and ports of a confined process and its children with a Landlock domain.

Landlock versions are numbered (the ABI). Every access that the kernel's version supports is handled, that is: denied
unless a rule grants it. By `ctypes`, because processes of the sandbox use the standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable

from pegboard.sandbox.child.syscalls import libc

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
REFER, TRUNCATE, IOCTL_DEV, RESOLVE_UNIX = (1 << bit for bit in range(13, 17))
BIND_TCP, CONNECT_TCP, BIND_UDP, CONNECT_UDP = (1 << bit for bit in range(4))
ABSTRACT_SOCKET, SIGNAL = 1, 2

_ABI_1_ACCESSES = (1 << 13) - 1
# By the ABI version that introduced them.
_FILE_ACCESSES = {1: _ABI_1_ACCESSES, 2: REFER, 3: TRUNCATE, 5: IOCTL_DEV, 9: RESOLVE_UNIX}
_PORT_ACCESSES = {4: BIND_TCP | CONNECT_TCP, 10: BIND_UDP | CONNECT_UDP}
_SCOPES = {6: ABSTRACT_SOCKET | SIGNAL}
# Denied accesses of a tool must not fill the audit log of the host (LOG_SAME_EXEC_OFF, LOG_SUBDOMAINS_OFF), and threads
# that a library started are restricted too (TSYNC).
_RESTRICT_FLAGS = {7: 1 | 4, 8: 8}

_READ_ACCESSES = EXECUTE | READ_FILE | READ_DIR
# No device files and no Unix sockets are created; device ioctls and connections to other sockets are never granted.
_WRITE_ACCESSES = (
    _READ_ACCESSES
    | WRITE_FILE
    | TRUNCATE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_DIR
    | MAKE_REG
    | MAKE_FIFO
    | MAKE_SYM
    | REFER
)
# Accesses that apply to files; the kernel rejects a rule for a file with any other.
_FILE_ONLY_ACCESSES = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_FLAG_VERSION = 1
_RULE_PATH_BENEATH, _RULE_NET_PORT = 1, 2


def get_abi_version() -> int:
    """Return the Landlock ABI version of the kernel, 0 for none."""
    return max(0, int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _FLAG_VERSION)))


def list_handled_accesses(version: int) -> tuple[int, int, int]:
    """Return the file accesses, port accesses and scopes of an ABI version, which the domain denies by default."""
    return (
        _combine_until(_FILE_ACCESSES, version),
        _combine_until(_PORT_ACCESSES, version),
        _combine_until(_SCOPES, version),
    )


def apply_landlock(
    readable: Iterable[str],
    writable: Iterable[str],
    *,
    tcp_connect: Iterable[int],
) -> None:
    """Restrict this process and its children to these files and ports, permanently; raise OSError if that fails.

    Readable files can be executed too. A path that does not exist is an error. Ports are restricted from ABI 4 on,
    signals and abstract Unix sockets from ABI 6 on. The process must have no_new_privs set.
    """
    version = get_abi_version()
    if not version:
        raise OSError(errno.EOPNOTSUPP, "the kernel has no Landlock, or it is switched off")
    files, ports, scopes = list_handled_accesses(version)
    # Older kernels accept the longer struct if the fields that they do not know are zero.
    attributes = struct.pack("=QQQ", files, ports, scopes)
    ruleset = _call_landlock("create a ruleset", _CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    try:
        for access, paths in ((_READ_ACCESSES, readable), (_WRITE_ACCESSES, writable)):
            for path in paths:
                _grant_path(ruleset, path, access & files)
        if ports:
            for port in tcp_connect:
                rule = struct.pack("=QQ", CONNECT_TCP, port)
                _call_landlock(f"grant port {port}", _ADD_RULE, ruleset, _RULE_NET_PORT, rule, 0)
        _call_landlock("enter the domain", _RESTRICT_SELF, ruleset, _combine_until(_RESTRICT_FLAGS, version))
    finally:
        os.close(ruleset)


def _grant_path(ruleset: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        raise OSError(error.errno, f"Landlock cannot grant '{path}': {error.strerror}") from None
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            access &= _FILE_ONLY_ACCESSES
        # The kernel's struct is packed, without padding at the end.
        rule = struct.pack("=Qi", access, place)
        _call_landlock(f"grant '{path}'", _ADD_RULE, ruleset, _RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(place)


def _combine_until(brought: dict[int, int], version: int) -> int:
    return sum(bits for since, bits in brought.items() if since <= version)


def _call_landlock(what: str, number: int, *arguments: object) -> int:
    outcome = int(libc.syscall(number, *arguments))
    if outcome < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"Landlock cannot {what}: {os.strerror(error)}")
    return outcome
