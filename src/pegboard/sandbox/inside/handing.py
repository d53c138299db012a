"""Descriptors that one process hands to another."""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from typing import NamedTuple

_NUMBER = struct.Struct("=i")
_MOST = 16
_ROOM = socket.CMSG_SPACE(_MOST * _NUMBER.size)


class Handed(NamedTuple):
    """What came: words, none where nobody is there any more, and descriptors, not all where there is no room here."""

    words: bytes
    descriptors: list[int]
    is_cut: bool


def hand(sock: socket.socket, words: bytes, descriptors: Sequence[int]) -> None:
    """Send words, at least one byte, and descriptors with them; raises OSError where nobody takes them."""
    numbers = b"".join(map(_NUMBER.pack, descriptors))
    sock.sendmsg([words], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])


def handed(sock: socket.socket, most: int) -> Handed:
    """Wait for what is handed over next, with at most so many bytes of words."""
    words, control, flags, _address = sock.recvmsg(most, _ROOM)
    numbers = [number for _level, _kind, sent in control for (number,) in _NUMBER.iter_unpack(sent)]
    return Handed(words, numbers, bool(flags & socket.MSG_CTRUNC))
