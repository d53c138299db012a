"""Which files a confined process may reach, and which ports: a domain that the kernel keeps for it and its children.

The kernel's versions of this ability are counted (the ABI). Every access that the version at hand knows is handled,
that is: refused unless a rule here grants it.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Iterable

from pegboard.sandbox.inside.syscalls import libc

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_CHAR, MAKE_DIR, MAKE_REG, MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = (1 << bit for bit in range(6, 13))
REFER, TRUNCATE, IOCTL_DEV, RESOLVE_UNIX = (1 << bit for bit in range(13, 17))
BIND_TCP, CONNECT_TCP, BIND_UDP, CONNECT_UDP = (1 << bit for bit in range(4))
ABSTRACT_SOCKET, SIGNAL = 1, 2

_FIRST_ABI = (1 << 13) - 1
# By the ABI that brought them.
_FILE_ACCESSES = {1: _FIRST_ABI, 2: REFER, 3: TRUNCATE, 5: IOCTL_DEV, 9: RESOLVE_UNIX}
_PORT_ACCESSES = {4: BIND_TCP | CONNECT_TCP, 10: BIND_UDP | CONNECT_UDP}
_SCOPES = {6: ABSTRACT_SOCKET | SIGNAL}
# A tool that tries doors must not fill the host's audit log (LOG_SAME_EXEC_OFF, LOG_SUBDOMAINS_OFF), and threads that a
# library may have started come along (TSYNC).
_FLAGS = {7: 1 | 4, 8: 8}

_READ = EXECUTE | READ_FILE | READ_DIR
# No devices, and no sockets for others to find; a device's ioctls and others' sockets are granted nowhere.
_WRITE = _READ | WRITE_FILE | TRUNCATE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_SYM | REFER
# What makes sense for something that is no folder; the kernel refuses a rule that says more.
_OF_A_FILE = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_BENEATH, _PORT = 1, 2


def abi() -> int:
    """The version of Landlock that the kernel has, 0 for none."""
    return max(0, int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION)))


def handled(version: int) -> tuple[int, int, int]:
    """The accesses to files and to ports, and the scopes, that a version knows and the domain therefore refuses."""
    return _until(_FILE_ACCESSES, version), _until(_PORT_ACCESSES, version), _until(_SCOPES, version)


def confine(
    readable: Iterable[str],
    writable: Iterable[str],
    *,
    tcp_connect: Iterable[int],
) -> None:
    """Leave this process and its children some files and folders and some ports, for good; OSError where that fails.

    What is readable can be executed too. A path that does not exist is an error. Ports are kept from ABI 4 on, signals
    and abstract sockets of others from 6 on. The process must have no_new_privs set.
    """
    version = abi()
    if not version:
        raise OSError(errno.EOPNOTSUPP, "the kernel has no Landlock, or it is switched off")
    files, ports, scopes = handled(version)
    # Older kernels take the longer form as well, so long as what they do not know is zero.
    attributes = struct.pack("=QQQ", files, ports, scopes)
    ruleset = _call("make a set of rules", _CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    try:
        for access, paths in ((_READ, readable), (_WRITE, writable)):
            for path in paths:
                _grant(ruleset, path, access & files)
        if ports:
            for port in tcp_connect:
                rule = struct.pack("=QQ", CONNECT_TCP, port)
                _call(f"grant port {port}", _ADD_RULE, ruleset, _PORT, rule, 0)
        _call("enter the domain", _RESTRICT_SELF, ruleset, _until(_FLAGS, version))
    finally:
        os.close(ruleset)


def _grant(ruleset: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        raise OSError(error.errno, f"Landlock cannot grant '{path}': {error.strerror}") from None
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            access &= _OF_A_FILE
        # Packed as the kernel has it, without the room that a C compiler would leave at the end.
        rule = struct.pack("=Qi", access, place)
        _call(f"grant '{path}'", _ADD_RULE, ruleset, _BENEATH, rule, 0)
    finally:
        os.close(place)


def _until(brought: dict[int, int], version: int) -> int:
    return sum(bits for since, bits in brought.items() if since <= version)


def _call(what: str, number: int, *arguments: object) -> int:
    outcome = int(libc.syscall(number, *arguments))
    if outcome < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"Landlock cannot {what}: {os.strerror(error)}")
    return outcome
