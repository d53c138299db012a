"""The first process of a call's namespaces: it does nothing, but when it ends the kernel ends all others in them."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
from typing import Any

from pegboard.sandbox.inside import syscalls
from pegboard.sandbox.inside.syscalls import libc

_VM = 0x100
_STACK = 2**14
# More than a context takes on any machine.
_CONTEXT = 2**13


class _Stack(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]


class _Context(ctypes.Structure):
    _fields_ = [
        ("flags", ctypes.c_ulong),
        ("next", ctypes.c_void_p),
        ("stack", _Stack),
        ("rest", ctypes.c_char * _CONTEXT),
    ]


class Life:
    """What such a process does: calls of the C library, one after another, and nothing in Python.

    So it can share the memory of whoever begins it, for which nothing has to be copied.
    """

    def __init__(self) -> None:
        """Raises AttributeError where the C library is one that cannot do this."""
        self._calls: tuple[Any, ...] = (libc.signal, libc.close, libc.read, libc._exit)
        # Of the process's own, whoever that is a copy of.
        self._memory = mmap.mmap(-1, _STACK * (len(self._calls) + 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._bottom = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._contexts = [_Context() for _ in self._calls]
        for number, context in enumerate(self._contexts):
            libc.getcontext(ctypes.byref(context))
            context.stack = _Stack(self._bottom + _STACK * number, 0, _STACK)
            if number:
                self._contexts[number - 1].next = ctypes.addressof(context)
        self._make = libc.makecontext

    def begin(self, namespaces: int, reading: int, writing: int) -> int:
        """A child that lives so, in new namespaces of these kinds; its number."""
        # The kernel lets go of its orphans; it waits until nobody has the pipe's other end any more, and ends.
        arguments = ((signal.SIGCHLD, signal.SIG_IGN), (writing,), (reading, self._bottom, 1), (0,))
        for context, function, words in zip(self._contexts, self._calls, arguments, strict=True):
            self._make(ctypes.byref(context), function, len(words), *map(ctypes.c_ulong, words))
        top = ctypes.c_void_p(self._bottom + len(self._memory))
        first = ctypes.byref(self._contexts[0])
        return syscalls.check(libc.clone(libc.setcontext, top, namespaces | _VM | signal.SIGCHLD, first))

    def hide(self, writing: int) -> None:
        """Nothing is left to do: whoever cannot look into this process cannot look into that one."""


class Copy:
    """The same where the C library cannot: a copy of this process, of which there is more to copy and to end."""

    def begin(self, namespaces: int, reading: int, writing: int) -> int:
        """A child that lives so, in new namespaces of these kinds; its number."""
        pid = syscalls.clone(namespaces)
        if pid == 0:
            try:
                signal.signal(signal.SIGCHLD, signal.SIG_IGN)
                os.close(writing)
                while os.read(reading, 1):
                    syscalls.set_dumpable(False)
            finally:
                os._exit(0)
        return pid

    def hide(self, writing: int) -> None:
        """Have nobody look into it."""
        os.write(writing, b".")


def life() -> Life | Copy:
    """How such a process is begun here; it ends when nobody has the writing end of its pipe any more."""
    try:
        return Life()
    except AttributeError:
        return Copy()
