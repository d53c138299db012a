"""The small file system that calls see: built once for a zygote, read-only, with nothing in it but what is named."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from pegboard.sandbox.inside import identity, mounts, syscalls
from pegboard.sandbox.inside.steps import StepFailed, step

# Where each call has files of its own; the first is its work folder.
OWN_PLACES = ("/call", "/tmp", "/dev/shm")  # noqa: S108 -- mounts of the call's own, which no other can reach
# Where these are mounted together, for a moment.
OWN_FILES = "/.own"
# By the names that calls see them under. The machine's own /dev/zero can be mapped and shared, as memory that nobody
# counts; /dev/full reads the same.
DEVICES = {"null": "null", "zero": "full", "full": "full", "random": "random", "urandom": "urandom"}

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32")
_ETC = (
    "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone", "ca-certificates",
    "ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "pki/tls/certs", "pki/tls/cert.pem", "pki/ca-trust/extracted",
)  # fmt: skip
_DEV_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}
# CAP_SYS_CHROOT and CAP_SYS_ADMIN: what it takes, in one's own user namespace, to join others.
_JOIN_OTHERS = (18, 21)
# Where the former root is while the new one is built.
_OLD = "/.old"


class Bind(NamedTuple):
    """A file or folder of the machine, and where calls see it."""

    source: str
    target: str
    writable: bool


class House(NamedTuple):
    """What the server says of the surroundings that the calls of one zygote share."""

    binds: tuple[Bind, ...]
    masked: tuple[str, ...]
    python: bool
    modules: tuple[str, ...]
    allowed: tuple[str, ...]
    without: frozenset[str]
    prefixes: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> House:
        """The house that this JSON describes."""
        told: dict[str, Any] = json.loads(text)
        return cls(
            binds=tuple(Bind(*bind) for bind in told["binds"]),
            masked=tuple(told["masked"]),
            python=bool(told["python"]),
            modules=tuple(told["modules"]),
            allowed=tuple(told["allowed"]),
            without=frozenset(told["without"]),
            prefixes=tuple(told["prefixes"]),
        )

    def built(self) -> House:
        """The same once it is built: what is hidden in it need not be named any more."""
        return self._replace(masked=())

    @property
    def namespaces(self) -> bool:
        """Whether calls live in namespaces of their own."""
        return "namespaces" not in self.without

    @property
    def has_template(self) -> bool:
        """Whether Python with its libraries is in a process of its own, which copies itself into calls' namespaces."""
        return self.namespaces and self.python


def build(house: House) -> None:
    """Leave the machine's file system, network and users for this house; raises StepFailed where that cannot be."""
    binds = _all_binds(house)
    covered = hidden(house)
    user = _leave()
    os.umask(0o022)
    _enter_new_root()
    _furnish(os.getuid() if user is None else user)
    _show(binds, covered)
    with step("leaving the former file system"):
        syscalls.unmount(_OLD)
        os.rmdir(_OLD)
    mounts.seal("/")
    if user is not None:
        with step(f"becoming the user {user}"):
            identity.become(user)
        # Those of a call are entered and left again, which takes rights over both.
        _own_users(syscalls.NEWNS)
        with step("giving up capabilities"):
            syscalls.drop_capabilities(*_JOIN_OTHERS)
    _check_reach(house.binds)


def readable(house: House) -> tuple[str, ...]:
    """Every place that calls may read from and execute programs of."""
    shown = [bind.target for bind in _all_binds(house)]
    if not house.namespaces:
        return ("/proc/self", *(f"/dev/{name}" for name in sorted(set(DEVICES.values()))), *shown)
    whole = ("/etc", "/proc", "/dev")
    return (*whole, *(path for path in shown if not any(within(path, place) for place in whole)))


def writable(house: House) -> tuple[str, ...]:
    """Every place that calls may write to, their work folder aside."""
    own = OWN_PLACES[1:] if house.namespaces else ()
    return (*own, "/dev/null", *(bind.target for bind in house.binds if bind.writable))


def hidden(house: House) -> list[str]:
    """Every place in the house where something of the board itself would show; StepFailed where that would be all."""
    needed = [os.path.realpath(path) for path in (os.path.dirname(os.__file__), *house.prefixes)]
    found: set[str] = set()
    for masked in {os.path.realpath(path) for path in house.masked if os.path.exists(path)}:
        for bind in _all_binds(house):
            if within(masked, bind.source):
                found.add(bind.target + masked[len(bind.source) :])
            elif within(bind.source, masked) and not any(within(path, bind.source) for path in needed):
                raise StepFailed(f"showing '{bind.target}': it lies in '{masked}', which is the board's own")
    # A place inside another that is hidden is gone already.
    return [path for path in sorted(found) if not any(within(path, other) for other in found if other != path)]


def _leave() -> int | None:
    """New namespaces for this process; the user to become at the end, for whom the right to build is still kept."""
    user = identity.other_user()
    shared = syscalls.NEWNS | syscalls.NEWNET
    if user is not None:
        try:
            syscalls.unshare(shared)
        except PermissionError:
            # This root may not do what root may, but can do what everybody can.
            with step(f"becoming the user {user}"):
                identity.become(user)
            user = None
    if user is None:
        _own_users(shared)
    with step("keeping mounts to this process"):
        syscalls.mount("none", "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    return user


def _own_users(others: int = 0) -> None:
    """Have a user namespace, and others with it, in which this process has every right."""
    own, group = os.getuid(), os.getgid()
    with step("making namespaces"):
        syscalls.unshare(syscalls.NEWUSER | others)
    with step("naming the user of a namespace"):
        identity.map_users(own, group)


def _enter_new_root() -> None:
    # Whatever is mounted on is free again once the root has moved; /proc exists everywhere.
    place = "/proc"
    mounts.scratch(place, size=2**20, files=4096, mode="755")
    with step("changing the root"):
        os.mkdir(place + _OLD)
        syscalls.pivot_root(place, place + _OLD)
        os.chdir("/")


def _furnish(user: int) -> None:
    """What every house has: folders for calls to mount on, devices, and the names of its users."""
    with step("making the house's own files"):
        for place in ("/proc", "/dev", "/etc", OWN_FILES, *OWN_PLACES):
            os.mkdir(place)
        for name, target in _DEV_LINKS.items():
            os.symlink(target, f"/dev/{name}")
        texts = {
            "passwd": f"root:x:0:0::/:/bin/false\ntool:x:{user}:{user}::{OWN_PLACES[0]}:/bin/sh\n",
            "group": f"root:x:0:\ntool:x:{user}:\n",
            "hosts": "127.0.0.1 localhost\n::1 localhost\n",
            "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
        }
        for name, text in texts.items():
            with open(f"/etc/{name}", "w") as file:
                file.write(text)
        for link in _SYSTEM:
            if os.path.islink(_OLD + link):
                os.symlink(os.readlink(_OLD + link), link)
    for name, device in DEVICES.items():
        mounts.make_place(f"{_OLD}/dev/{device}", "/dev/" + name)
        mounts.bind_device(f"{_OLD}/dev/{device}", "/dev/" + name)
    mounts.bind_as_is(_OLD + "/proc", "/proc")


def _show(binds: Iterable[Bind], covered: Iterable[str]) -> None:
    """Mount all, outer folders first, so that what stands in a folder that is hidden can still be shown there."""
    places = [(_parts(bind.target), 0, bind) for bind in binds] + [(_parts(path), 1, path) for path in covered]
    for _parts_of_it, _order, place in sorted(places, key=lambda place: place[:2]):
        if isinstance(place, Bind):
            mounts.make_place(_OLD + place.source, place.target)
            mounts.bind(_OLD + place.source, place.target, writable=place.writable)
        else:
            mounts.cover(place)
    for path in covered:
        mounts.seal(path)


def shown_among_own(house: House) -> list[str]:
    """What the house shows where each call has files of its own, which then have to leave room for it."""
    return [bind.target for bind in house.binds if any(within(bind.target, own) for own in OWN_PLACES)]


def _all_binds(house: House) -> list[Bind]:
    """What the house names, and the system's programs and libraries with such settings as those need."""
    programs = [path for path in _SYSTEM if os.path.isdir(path) and not os.path.islink(path)]
    settings = [path for path in (f"/etc/{name}" for name in _ETC) if os.path.exists(path)]
    named = {bind.target for bind in house.binds}
    system = [Bind(path, path, False) for path in (*programs, *settings) if path not in named]
    return [bind._replace(source=os.path.realpath(bind.source)) for bind in (*system, *house.binds)]


def _check_reach(binds: Iterable[Bind]) -> None:
    for bind in binds:
        wanted, verb = (os.W_OK, "written to") if bind.writable else (os.R_OK, "read")
        if os.path.isdir(bind.target) and not os.access(bind.target, wanted | os.X_OK):
            raise StepFailed(
                f"'{bind.target}' cannot be {verb} by the user {os.getuid()}, as whom tools run: "
                f"{os.strerror(errno.EACCES)}; change its owner or its mode"
            )


def _parts(path: str) -> tuple[str, ...]:
    return tuple(os.path.normpath(path).split("/"))


def within(path: str, folder: str) -> bool:
    """Whether the path is that of the folder or of something in it."""
    return path == folder or path.startswith(folder.rstrip("/") + "/")
