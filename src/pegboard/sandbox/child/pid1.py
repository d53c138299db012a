"""Pid 1 of a call's namespaces: it only waits, and when it ends, the kernel kills all other processes in them."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
from typing import Any

from pegboard.sandbox.child import syscalls
from pegboard.sandbox.child.syscalls import libc

_CLONE_VM = 0x100
_STACK_BYTES = 2**14
# Larger than ucontext_t on any machine.
_CONTEXT_BYTES = 2**13


class _Stack(ctypes.Structure):
    _fields_ = [("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]


class _Context(ctypes.Structure):
    _fields_ = [
        ("flags", ctypes.c_ulong),
        ("next", ctypes.c_void_p),
        ("stack", _Stack),
        ("rest", ctypes.c_char * _CONTEXT_BYTES),
    ]


class SharedMemoryInit:
    """Starts a pid 1 that runs only a sequence of C library calls and no Python.

    It can therefore share the memory of its parent (CLONE_VM), and no page tables have to be copied.
    """

    def __init__(self) -> None:
        """Raise AttributeError if the C library does not support this."""
        self._calls: tuple[Any, ...] = (libc.signal, libc.close, libc.read, libc._exit)
        # Private anonymous memory, so that each forked process has its own copy.
        self._memory = mmap.mmap(-1, _STACK_BYTES * (len(self._calls) + 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._stack_bottom = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self._contexts = [_Context() for _ in self._calls]
        for number, context in enumerate(self._contexts):
            libc.getcontext(ctypes.byref(context))
            context.stack = _Stack(self._stack_bottom + _STACK_BYTES * number, 0, _STACK_BYTES)
            if number:
                self._contexts[number - 1].next = ctypes.addressof(context)
        self._make = libc.makecontext

    def begin(self, namespaces: int, reading: int, writing: int) -> int:
        """Start pid 1 in new namespaces of these kinds, and return its pid."""
        # The kernel reaps its orphans (SIGCHLD is ignored); it ends when all writing ends of the pipe are closed.
        arguments = ((signal.SIGCHLD, signal.SIG_IGN), (writing,), (reading, self._stack_bottom, 1), (0,))
        for context, function, words in zip(self._contexts, self._calls, arguments, strict=True):
            self._make(ctypes.byref(context), function, len(words), *map(ctypes.c_ulong, words))
        top = ctypes.c_void_p(self._stack_bottom + len(self._memory))
        first = ctypes.byref(self._contexts[0])
        return syscalls.check_syscall(libc.clone(libc.setcontext, top, namespaces | _CLONE_VM | signal.SIGCHLD, first))

    def hide_process(self, writing: int) -> None:
        """Do nothing: pid 1 shares the memory of this process, and its dumpable flag."""


class ForkedInit:
    """Starts pid 1 as a fork of this process, if the C library lacks these functions.

    This is slower to start and to end.
    """

    def begin(self, namespaces: int, reading: int, writing: int) -> int:
        """Start pid 1 in new namespaces of these kinds, and return its pid."""
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

    def hide_process(self, writing: int) -> None:
        """Make pid 1 unreadable to others."""
        os.write(writing, b".")


def create_init() -> SharedMemoryInit | ForkedInit:
    """Return the starter that works here; its process ends when all writing ends of its pipe are closed."""
    try:
        return SharedMemoryInit()
    except AttributeError:
        return ForkedInit()
