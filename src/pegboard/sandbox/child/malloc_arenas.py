"""Controls where Python allocates its arenas for small objects."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

# A little more than the size of an arena.
_AN_ARENA = 2**20 + 2**16

_libc = ctypes.CDLL(None)
_libc.malloc.argtypes, _libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
_libc.free.argtypes = [ctypes.c_void_p]


class _Allocator(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("alloc", ctypes.c_void_p), ("free", ctypes.c_void_p)]


@contextmanager
def together() -> Iterator[None]:
    """Allocate the arenas inside the block side by side, so that the kernel can use huge pages for them.

    Python maps an arena of one megabyte at a time, which would lie between the files that libraries are mapped from.
    """
    usual = _Allocator()
    get, put = ctypes.pythonapi.PyObject_GetArenaAllocator, ctypes.pythonapi.PyObject_SetArenaAllocator
    get(ctypes.byref(usual))
    # After a block of this size was freed, glibc raises its dynamic mmap threshold and takes such blocks from the heap.
    # Setting the threshold with mallopt would disable its dynamic adjustment.
    _libc.free(_libc.malloc(_AN_ARENA))
    # realloc(NULL, size) allocates. The usual function to free an arena (munmap) fails on it or leaves a hole in the
    # heap, but touches no byte that belongs to malloc.
    put(ctypes.byref(_Allocator(None, ctypes.cast(_libc.realloc, ctypes.c_void_p).value, usual.free)))
    try:
        yield
    finally:
        put(ctypes.byref(usual))
