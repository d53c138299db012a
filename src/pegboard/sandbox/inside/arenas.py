"""Where Python's small objects lie: all in one piece of memory, or wherever the system finds room."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

# A little more than what Python asks for at a time.
_AN_ARENA = 2**20 + 2**16

_libc = ctypes.CDLL(None)
_libc.malloc.argtypes, _libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
_libc.free.argtypes = [ctypes.c_void_p]


class _Allocator(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("alloc", ctypes.c_void_p), ("free", ctypes.c_void_p)]


@contextmanager
def together() -> Iterator[None]:
    """Have what is allocated meanwhile lie side by side, so that the kernel can keep it in few large pages.

    Python asks the system for a megabyte at a time, which would lie between the files that libraries are mapped from.
    """
    usual = _Allocator()
    get, put = ctypes.pythonapi.PyObject_GetArenaAllocator, ctypes.pythonapi.PyObject_SetArenaAllocator
    get(ctypes.byref(usual))
    # Once it was given back as much, glibc takes it from nowhere but the heap. It could be told to, but
    # would then no longer go by what a program does.
    _libc.free(_libc.malloc(_AN_ARENA))
    # What realloc() has nothing to grow from is new. The usual way to free it fails, or leaves a hole in the heap:
    # not a byte of it is malloc's own.
    put(ctypes.byref(_Allocator(None, ctypes.cast(_libc.realloc, ctypes.c_void_p).value, usual.free)))
    try:
        yield
    finally:
        put(ctypes.byref(usual))
