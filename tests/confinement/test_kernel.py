"""Attacks by system call, direct or through a program: the system call is refused, or the call ends."""

from __future__ import annotations

import asyncio
import os

import pytest

from pegboard.sandbox.child.syscall_numbers import SYSCALL_NUMBERS
from tests.confinement.targets import Target, table

NEWNS, NEWCGROUP, NEWUTS, NEWIPC = 0x00020000, 0x02000000, 0x04000000, 0x08000000
NEWUSER, NEWPID, NEWNET, NEWTIME = 0x10000000, 0x20000000, 0x40000000, 0x80
SIGCHLD = 17
ROOM = "a place in memory"
MACHINE = os.uname().machine
NUMBER = SYSCALL_NUMBERS[MACHINE]

# A text is a path or a name; a system call that needs a structure gets an empty buffer.
CALL = """
import ctypes, errno, os
def f(number: int, arguments: list):
    libc = ctypes.CDLL(None, use_errno=True)
    room = ctypes.create_string_buffer(4096)
    given = [room if one == "a place in memory" else one.encode() if isinstance(one, str) else ctypes.c_long(one)
             for one in arguments]
    before = os.getpid()
    outcome = libc.syscall(ctypes.c_long(number), *given)
    if os.getpid() != before or (outcome > 0 and os.getppid() != 1):
        os._exit(0)
    return errno.errorcode[ctypes.get_errno()] if outcome == -1 else outcome
"""
REFUSED: dict[str, tuple[str, list[int | str]]] = {
    "ptrace, to be traced": ("ptrace", [0, 0, 0, 0]),
    "ptrace of who looks after the call": ("ptrace", [16, 1, 0, 0]),
    "ptrace, seized": ("ptrace", [0x4206, 1, 0, 0]),
    "memory of others, read": ("process_vm_readv", [1, ROOM, 1, ROOM, 1, 0]),
    "memory of others, written": ("process_vm_writev", [1, ROOM, 1, ROOM, 1, 0]),
    "descriptors of others": ("pidfd_getfd", [0, 0, 0]),
    "what others share": ("kcmp", [1, 1, 0, 0, 0]),
    "io_uring": ("io_uring_setup", [8, ROOM]),
    "io_uring, entered": ("io_uring_enter", [0, 1, 0, 0, 0, 0]),
    "io_uring, registered": ("io_uring_register", [0, 0, 0, 0]),
    "asynchronous files": ("io_setup", [8, ROOM]),
    "mount": ("mount", ["none", "/call", "tmpfs", 0, 0]),
    "mount, bound": ("mount", ["/usr", "/call", "", 4096, 0]),
    "mount, writable again": ("mount", ["none", "/usr", "", 4096 | 32, 0]),
    "umount": ("umount2", ["/proc", 2]),
    "umount of what hides something": ("umount2", ["/call", 2]),
    "mount, the new way": ("fsopen", ["tmpfs", 0]),
    "mount, moved": ("move_mount", [-100, "/call", -100, "/tmp", 0]),
    "mount, copied": ("open_tree", [-100, "/usr", 1]),
    "mount, changed": ("mount_setattr", [-100, "/usr", 0, ROOM, 32]),
    "pivot_root": ("pivot_root", ["/call", "/call"]),
    "chroot": ("chroot", ["/call"]),
    **{
        f"unshare {name}": ("unshare", [flag])
        for name, flag in {
            "users": NEWUSER, "mounts": NEWNS, "network": NEWNET, "processes": NEWPID, "ipc": NEWIPC, "names": NEWUTS,
            "cgroups": NEWCGROUP, "time": NEWTIME, "users and mounts": NEWUSER | NEWNS,
        }.items()
    },
    "setns": ("setns", [0, 0]),
    "clone of users": ("clone", [NEWUSER | SIGCHLD, 0, 0, 0, 0]),
    "clone of mounts": ("clone", [NEWNS | SIGCHLD, 0, 0, 0, 0]),
    "clone of the network": ("clone", [NEWUSER | NEWNET | SIGCHLD, 0, 0, 0, 0]),
    "keyctl": ("keyctl", [0, -3, 1]),
    "a key": ("add_key", ["user", "left", ROOM, 10, -4]),
    "a key of others": ("request_key", ["user", "left", "", -4]),
    "bpf": ("bpf", [0, ROOM, 128]),
    "bpf, a program": ("bpf", [5, ROOM, 128]),
    "perf": ("perf_event_open", [ROOM, 0, -1, -1, 0]),
    "userfaultfd": ("userfaultfd", [0]),
    "userfaultfd, of the user": ("userfaultfd", [1]),
    "memfd": ("memfd_create", ["x", 0]),
    "secret memory": ("memfd_secret", [0]),
    "shared memory": ("shmget", [1, 4096, 0o1666]),
    "a queue": ("msgget", [1, 0o1666]),
    "a semaphore": ("semget", [1, 1, 0o1666]),
    "a queue by name": ("mq_open", ["left", 0o102, 0o600, 0]),
    "a file by its handle": ("open_by_handle_at", [-100, ROOM, 0]),
    "the handle of a file": ("name_to_handle_at", [-100, "/usr", ROOM, ROOM, 0]),
    "watching all files": ("fanotify_init", [0, 0]),
    "a module": ("init_module", [ROOM, 10, ""]),
    "a module in a file": ("finit_module", [0, "", 0]),
    "another kernel": ("kexec_load", [0, 0, 0, 0]),
    "reboot": ("reboot", [0xFEE1DEAD, 672274793, 0x89ABCDEF, 0]),
    "swap": ("swapon", ["/call", 0]),
    "the clock": ("clock_settime", [0, ROOM]),
    "the time": ("settimeofday", [ROOM, 0]),
    "the machine's name": ("sethostname", ["evil", 4]),
    "the kernel's log": ("syslog", [3, ROOM, 100]),
    "quotas": ("quotactl", [0x800007, "/dev/vda", 0, ROOM]),
    "accounting": ("acct", ["/call/acct"]),
    "ports": ("iopl", [3]),
    "a port": ("ioperm", [0x70, 2, 1]),
    "segments": ("modify_ldt", [1, ROOM, 16]),
    "a layout that is known": ("personality", [0x0040000]),
    "a hangup": ("vhangup", []),
    "pages of others": ("move_pages", [1, 0, 0, 0, 0, 0]),
    "splicing of memory": ("vmsplice", [1, ROOM, 1, 0]),
    "limits of who looks after the call": ("prlimit64", [1, 7, ROOM, 0]),
    "priority of who looks after the call": ("setpriority", [0, 1, 19]),
    "processors of who looks after the call": ("sched_setaffinity", [1, 8, ROOM]),
    "scheduling of who looks after the call": ("sched_setscheduler", [1, 5, ROOM]),
    "becoming root's groups": ("setgroups", [1, ROOM]),
    "a device": ("mknodat", [-100, "/call/device", 0o020666, 0x0101]),
    "a disk": ("mknodat", [-100, "/call/disk", 0o060666, 0xFE00]),
    "a file that lends its user": ("fchmodat", [-100, "/call", 0o4777]),
    "a file made to lend its user": ("openat", [-100, "/call/x", 0o101, 0o4777]),
}  # fmt: skip
# This user does not exist in the namespace of the call.
NO_PRIVILEGES: dict[str, tuple[str, list[int | str]]] = {
    "becoming root": ("setuid", [0]),
    "becoming root, in all ways": ("setresuid", [0, 0, 0]),
    "becoming root's group": ("setgid", [0]),
    "a file of root's": ("fchownat", [-100, "/call", 0, 0, 0]),
}
UNKNOWN: dict[str, tuple[str, list[int | str]]] = {
    "clone, the new way": ("clone3", [ROOM, 88]),
    "open, the new way": ("openat2", [-100, "/usr", ROOM, 24]),
    "lists of mounts": ("listmount", [ROOM, ROOM, 8, 0]),
    "more of a mount": ("statmount", [ROOM, ROOM, 512, 0]),
}
# Machine code: the same system calls by the numbers of 32-bit programs, which have other meanings.
OTHER_NUMBERS: dict[str, str] = {
    "a call with short pointers": "import ctypes\ndef f(): return ctypes.CDLL(None).syscall(0x40000000 + 39)",
    "a call of 32-bit programs": """
import ctypes, mmap
def f():
    room = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    room.write(bytes.fromhex("53b814000000cd805bc3"))  # getpid through int 0x80
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(room)))()
""",
}
PROGRAMS = [
    "mount -t tmpfs none /call", "mount --bind /usr /call", "umount /proc", "umount -l /call", "unshare -r id",
    "unshare -m true", "unshare -n true", "nsenter -t 1 -a true", "nsenter -t 1 -m ls /", "chroot /call true",
    "pivot_root . .", "su -c id", "su root -c id", "sudo -n id", "pkexec id", "newgrp root", "chsh -s /bin/sh",
    "chage -l root", "mknod device c 1 1", "hostname evil", "dmesg", "insmod x.ko", "modprobe loop", "swapon file",
    "date -s 2000-01-01 > /dev/null", "sysctl -w kernel.hostname=evil", "renice -n -5 -p $$", "chrt -f 10 true",
    "setpriv --reuid=0 id", "capsh --uid=0 -- -c id", "losetup -f", "fusermount -u /call", "strace -p 1",
    "gdb -p 1 -batch", "keyctl show", "ipcmk -M 100", "ip addr", "iptables -L", "ping -c 1 -W 1 127.0.0.1",
    "chown 0 .", "setcap cap_sys_admin+ep file", "chmod u+s .", "sh -c 'echo 1 > /proc/sys/kernel/sysrq'",
    "sh -c 'echo b > /proc/sysrq-trigger'", "sh -c 'echo 0 > /proc/self/oom_score_adj'",
    "sh -c 'echo 0 > /proc/1/oom_score_adj'", "sh -c 'echo 0 0 1 > /proc/self/uid_map'",
    "python3 -c 'import os; os.setuid(0)'", 'perl -e \'$> = 0; $< = 0; exec "id" if $> == 0; exit 1\'', "crontab -l",
    "at now", "systemctl status",
]  # fmt: skip


def list_available(calls: dict[str, tuple[str, list[int | str]]]) -> list[object]:
    """Return the system calls that this machine has."""
    return table({name: row for name, row in calls.items() if row[0] in NUMBER})


@pytest.mark.parametrize(("name", "arguments"), list_available(REFUSED))
async def test_a_system_call_is_refused(board: Target, name: str, arguments: list[int | str]) -> None:
    tried = await board.python(CALL, {"number": NUMBER[name], "arguments": arguments})
    assert tried.output == "EPERM"


@pytest.mark.parametrize(("name", "arguments"), list_available(NO_PRIVILEGES))
async def test_no_one_can_become_root(board: Target, name: str, arguments: list[int | str]) -> None:
    tried = await board.python(CALL, {"number": NUMBER[name], "arguments": arguments})
    assert tried.output == "EINVAL"


@pytest.mark.parametrize(("name", "arguments"), list_available(UNKNOWN))
async def test_a_system_call_is_not_there(board: Target, name: str, arguments: list[int | str]) -> None:
    tried = await board.python(CALL, {"number": NUMBER[name], "arguments": arguments})
    assert tried.output == "ENOSYS"


if MACHINE == "x86_64":

    @pytest.mark.parametrize("code", table(OTHER_NUMBERS))
    async def test_a_system_call_by_another_number_ends_the_call(board: Target, code: str) -> None:
        (await board.python(code)).ended("execution_failed", "was ended by SIGSYS")


async def test_a_program_can_do_no_more(board: Target) -> None:
    ends = await asyncio.gather(*(board.shell(f": > file; {command}") for command in PROGRAMS))
    found = {
        command: (end.output["exit_code"], end.output["stdout"]) for command, end in zip(PROGRAMS, ends, strict=True)
    }
    assert {command: end for command, end in found.items() if end[0] == 0 or end[1]} == {}


async def test_no_right_is_left_and_none_can_return(board: Target) -> None:
    tried = await board.shell("grep -hE '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp:)' /proc/self/status; ulimit -c")
    fields = dict(line.split(":\t") for line in tried.output["stdout"].splitlines()[:-1])
    assert {int(fields[f"Cap{kind}"], 16) for kind in ("Inh", "Prm", "Eff", "Amb")} == {0}
    assert (fields["NoNewPrivs"], fields["Seccomp"], fields["Groups"].strip()) == ("1", "2", "")
    assert "0" not in fields["Uid"].split() + fields["Gid"].split()
    assert tried.output["stdout"].splitlines()[-1] == "0"


async def test_no_program_lends_its_user(board: Target) -> None:
    tried = await board.shell("cut -d' ' -f5,6 /proc/self/mountinfo")
    flags = dict(line.split() for line in tried.output["stdout"].splitlines())
    lending = {place for place, options in flags.items() if "nosuid" not in options.split(",")}
    # Covered by another mount, of the call's own.
    assert lending <= {"/proc"}
    assert "nosuid" in tried.output["stdout"].splitlines()[-1]
