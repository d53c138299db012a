"""Detection of kernel features: on this kernel as it is, and with features disabled."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegboard.sandbox.child import landlock
from pegboard.sandbox.kernel_features import KernelFeatures, detect_kernel_features
from pegboard.sandbox.limits import KERNEL_FEATURES
from tests.unit.sandbox.confined import Forker, forker

ALL = KernelFeatures(landlock=7, namespaces=True, seccomp=True, proc=True)
NONE = KernelFeatures(0, False, False, False, {name: f"no {name} today" for name in KERNEL_FEATURES})

# A filter of one system call: the error it returns, and for which argument.
TAKEN = """
from pegboard.sandbox.child import seccomp_filter as bpf, rootfs, probe_main as probe
EMPTY = rootfs.ZygoteSpec((), (), False, (), (), frozenset(), ())
def take(name, answer, *checks):
    given = bpf.branch_if_all(checks, bpf.build_return(answer), bpf.build_return(0x7fff0000))
    kept, seccomp._PACKED_FILTERS = seccomp._PACKED_FILTERS, {{False: bpf.pack_program(
        (bpf.load_word(0), *bpf.branch_if_equal(number(name), given, bpf.build_return(0x7fff0000)))
    )}}
    syscalls.forbid_new_privileges()
    seccomp.apply_seccomp(network=False)
    seccomp._PACKED_FILTERS = kept
{taken}
"""
EPERM, EINVAL, ENOSYS, KILLED = 0x50001, 0x50016, 0x50026, 0x80000000

# The disabled feature; the ability that is then missing, and why.
WITHOUT = {
    "no Landlock in the kernel": (
        f"take('landlock_create_ruleset', {ENOSYS})",
        {"landlock": "the kernel has no Landlock, or it is switched off"},
    ),
    "Landlock refused": (
        f"take('landlock_restrict_self', {EPERM})",
        {"landlock": "Landlock cannot enter the domain: Operation not permitted"},
    ),
    "Landlock without effect": (
        "landlock.apply_landlock = lambda *_, **__: None",
        {"landlock": "a process confined with it could still read the root folder"},
    ),
    "no seccomp in the kernel": (
        f"take('seccomp', {EINVAL})",
        {"seccomp": "the kernel rejected the seccomp filter: Invalid argument"},
    ),
    "seccomp without effect": (
        "seccomp.apply_seccomp = lambda **_: None",
        {"seccomp": "a process confined with it could still create a socket"},
    ),
    "no new namespaces": (
        f"take('unshare', {EPERM})",
        {"namespaces": "creating namespaces: Operation not permitted", "proc": "it needs namespaces"},
    ),
    "no new user in a namespace": (
        f"take('clone', {EPERM}, bpf.Check(16, (0x10000000,), 0x10000000))",
        {"namespaces": "creating namespaces: Operation not permitted", "proc": "it needs namespaces"},
    ),
    "no other root": (
        f"take('pivot_root', {EPERM})",
        {"namespaces": "changing the root: Operation not permitted", "proc": "it needs namespaces"},
    ),
    "the kernel kills": (
        f"take('pivot_root', {KILLED})",
        {"namespaces": "the probe process was killed by SIGSYS", "proc": "it needs namespaces"},
    ),
    "parts of /proc hidden, as in a container": (
        "from pegboard.sandbox.child import user_identity as identity\n"
        "own = os.getuid(), os.getgid()\n"
        "syscalls.unshare(syscalls.NEWUSER | syscalls.NEWNS)\n"
        "identity.write_id_maps(*own)\n"
        "syscalls.mount('tmpfs', '/proc/sys', 'tmpfs', 0)",
        {"proc": "the kernel permits no new mount of /proc while parts of it are masked, as in most containers"},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def forked() -> Iterator[Forker]:
    with forker() as running:
        yield running


async def test_this_kernel_is_found_to_do_what_it_does() -> None:
    found = await detect_kernel_features()
    assert found == KernelFeatures(landlock.get_abi_version(), True, True, True), found.reasons
    assert found.missing(()) == []


@pytest.mark.parametrize("about", WITHOUT)
def test_missing_features_are_detected_by_trying_them(forked: Forker, about: str) -> None:
    taken, reasons = WITHOUT[about]
    found: dict[str, Any] = forked.attempt("probe.probe_kernel(EMPTY)", before=TAKEN.format(taken=taken))
    # The rest of the description, in brackets, depends on the machine.
    assert {name: reason.partition(" (")[0] for name, reason in found.pop("reasons").items()} == reasons
    assert found == {
        name: value if name not in reasons else 0 if name == "landlock" else False
        for name, value in {
            "landlock": landlock.get_abi_version(),
            "namespaces": True,
            "seccomp": True,
            "proc": True,
        }.items()
    }


def test_settings_that_stand_in_the_way_are_named(forked: Forker) -> None:
    taken = f"take('unshare', {EPERM})\nprobe._read_sysctl = lambda name: '0'; probe._CONTAINER_MARKERS = ('/proc',)"
    found = forked.attempt("probe.probe_kernel(EMPTY)['reasons']['namespaces']", before=TAKEN.format(taken=taken))
    assert "(kernel.unprivileged_userns_clone is 0, user.max_user_namespaces is 0, " in found
    assert found.endswith(", this is a container)")


def test_nothing_is_missing_if_all_is_there() -> None:
    assert ALL.missing(()) == []


def test_what_is_missing_is_reported_with_the_reason_and_the_way_out() -> None:
    received = NONE.missing(())
    assert len(received) == len(KERNEL_FEATURES)
    for name, sentence in zip(KERNEL_FEATURES, received, strict=True):
        assert f"no {name} today" in sentence
        assert f"add '{name}' to PEGBOARD_SANDBOX_WITHOUT" in sentence
    assert "lsm=" in received[0]
    assert all(
        name in received[1]
        for name in (
            "user.max_user_namespaces",
            "kernel.unprivileged_userns_clone",
            "kernel.apparmor_restrict_unprivileged_userns",
            "--security-opt",
        )
    )


@pytest.mark.parametrize("name", KERNEL_FEATURES)
def test_what_was_given_up_by_name_is_not_missing(name: str) -> None:
    received = NONE.missing([name])
    assert len(received) == len(KERNEL_FEATURES) - 1
    assert not any(f"no {name} today" in sentence for sentence in received)
    assert NONE.missing(KERNEL_FEATURES) == []


def test_a_call_without_its_own_proc_is_no_obstacle() -> None:
    assert KernelFeatures(landlock=1, namespaces=True, seccomp=True, proc=False).missing(()) == []


@pytest.fixture
def received(tmp_path: Path) -> Path:
    """A pipe that the program, which runs for a minute, and a child of it keep open as long as they live."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    return pipe


def lasting(pipe: Path) -> str:
    """Return the program that does so."""
    return f"import os, time; file = open({str(pipe)!r}, 'w'); os.fork(); file.write('.'); file.flush(); time.sleep(60)"


async def test_what_takes_too_long_is_ended_and_counts_as_not_tried(received: Path) -> None:
    reading = asyncio.create_task(asyncio.to_thread(received.read_text))
    found = await detect_kernel_features(4, lasting(received))
    assert found.probe_error == "the probe process did not end within 4 s"
    assert "did not end within 4 s" in found.missing(())[0]
    assert not any("PEGBOARD_SANDBOX_WITHOUT" in sentence for sentence in found.missing(()))
    assert await asyncio.wait_for(reading, 30) == ".."


async def test_being_cancelled_ends_the_program(received: Path) -> None:
    trying = asyncio.create_task(detect_kernel_features(60, lasting(received)))
    with await asyncio.to_thread(received.open) as file:
        assert await asyncio.to_thread(file.read, 2) == ".."
        trying.cancel()
        with pytest.raises(asyncio.CancelledError):
            await trying
        assert await asyncio.to_thread(file.read) == ""


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import pegboard.sandbox.nowhere", "ModuleNotFoundError: No module named 'pegboard.sandbox.nowhere'"),
        ("print('[1]')", "it wrote nothing to stderr"),
        ("print('{\"landlock\": 1}')", "it wrote nothing to stderr"),
        ("import os; os._exit(1)", "it wrote nothing to stderr"),
    ],
)
async def test_a_program_that_fails_finds_nothing(code: str, reason: str) -> None:
    found = await detect_kernel_features(code=code)
    assert not (found.landlock or found.namespaces or found.seccomp or found.proc)
    assert set(found.reasons.values()) == {f"the probe process failed: {reason}"}


async def test_a_program_that_was_killed_has_tried_nothing() -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert "killed from outside" in str((await detect_kernel_features(code=code)).probe_error)


@pytest.mark.parametrize(("number", "is_tried"), [(errno.EMFILE, False), (errno.EAGAIN, False), (errno.EACCES, True)])
async def test_a_machine_that_is_only_full_counts_as_not_tried(
    monkeypatch: pytest.MonkeyPatch, number: int, is_tried: bool
) -> None:
    async def refused(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(asyncio, "create_subprocess_exec", refused)
    found = await detect_kernel_features()
    assert (found.probe_error is None) is is_tried
    assert os.strerror(number) in found.missing(())[0]


async def test_a_program_that_cannot_be_started_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    received = (await detect_kernel_features()).missing(())
    assert "could not be started: No such file or directory" in received[0]


async def test_a_system_other_than_linux_has_none_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert (await detect_kernel_features()).reasons["landlock"] == "the system is darwin, not Linux"
