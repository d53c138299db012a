"""Where Python's small objects lie: all in one piece of memory, or wherever the system finds room."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

# By which numbers glibc's malloc is told what to do.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -2, -3, -4
_TOGETHER = {_TRIM_THRESHOLD: 2**30, _TOP_PAD: 2**22, _MMAP_MAX: 0}
# The first two change by themselves, as a program goes on, until one of them was set: this is how far they would go.
_USUAL = {_TRIM_THRESHOLD: 2**26, _MMAP_THRESHOLD: 2**25, _TOP_PAD: 2**17, _MMAP_MAX: 2**16}

_libc = ctypes.CDLL(None)


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
    # What realloc() has nothing to grow from is new. The usual way to free it does nothing: it is no mapping.
    put(ctypes.byref(_Allocator(None, ctypes.cast(_libc.realloc, ctypes.c_void_p).value, usual.free)))
    _tell_malloc(_TOGETHER)
    try:
        yield
    finally:
        _tell_malloc(_USUAL)
        put(ctypes.byref(usual))


def _tell_malloc(options: dict[int, int]) -> None:
    # Other C libraries than glibc take no such advice.
    if hasattr(_libc, "mallopt"):
        for option, value in options.items():
            _libc.mallopt(option, value)
