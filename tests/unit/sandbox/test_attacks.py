"""Attacks on the confinement, in sequence on the same zygote: each ends in time, and the next call is not affected."""

from __future__ import annotations

import os
import resource
from typing import Any

import pytest

from tests.unit.sandbox.supervisor_channel import Ended, Zygote

FORK_BOMB = """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
COUNT_FORKS = """
import os, signal
count = 0
try:
    while True:
        if os.fork() == 0:
            signal.pause()
        count += 1
except BlockingIOError:
    print(count)
"""
COUNT_THREADS = """
import threading
wait = threading.Event()
count = 0
try:
    while True:
        threading.Thread(target=wait.wait, daemon=True).start()
        count += 1
except RuntimeError:
    print(count, flush=True)
    import os
    os._exit(0)
"""
MEMORY_OF_ONE = "bytearray(2**31)"
MEMORY_OF_MANY = """
import os, signal
for number in range(12):
    if os.fork() == 0:
        break
taken = bytearray(60 * 2**20)
signal.pause()
"""
HIDDEN_MEMORY = """
import ctypes, os, signal
for number in range(12):
    if os.fork() == 0:
        break
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
taken = bytearray(60 * 2**20)
signal.pause()
"""
PAGE_TABLES = """
import ctypes
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
size = 2**36
start = libc.mmap(None, size, 1, 0x4022, -1, 0)
for offset in range(0, size, 2**21):
    ctypes.string_at(start + offset, 1)
import signal
signal.pause()
"""
CPU_LIMIT = """
import resource
print(resource.getrlimit(resource.RLIMIT_CPU), flush=True)
resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
while True:
    pass
"""
RAISED_LIMITS = """
import resource
for name in dir(resource):
    if name.startswith("RLIMIT_"):
        try:
            resource.setrlimit(getattr(resource, name), (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (ValueError, OSError):
            continue
        if name in ("RLIMIT_NPROC", "RLIMIT_DATA", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CPU", "RLIMIT_CORE"):
            print(name)
"""
OPEN_MANY = """
import os
try:
    while True:
        last = os.open("/dev/null", 0)
except OSError as error:
    print(last, error.strerror)
"""
MANY_FILES = """
import os
count = 0
try:
    while True:
        os.close(os.open(f"/call/{count}", os.O_CREAT))
        count += 1
except OSError as error:
    print(count, error.strerror)
"""


def sizes(ended: Ended) -> tuple[str, int]:
    return ended.fate, ended.code


@pytest.fixture(autouse=True)
def as_ever(calls: Zygote) -> Any:
    """After every test, the zygote runs and the next call succeeds."""
    yield
    assert calls.process.poll() is None
    assert calls.shell("echo well; ls -A").stdout == b"well\n"


def test_a_fork_bomb_ends_at_the_deadline(calls: Zygote) -> None:
    assert calls.python(FORK_BOMB, seconds=1.0).fate == "time"


@pytest.mark.parametrize("script", [COUNT_FORKS, COUNT_THREADS])
def test_processes_and_threads_are_counted_for_each_call_alone(calls: Zygote, script: str) -> None:
    ended = calls.python(script, limits={"processes": 10})
    assert (ended.fate, ended.stdout) == ("exited", b"9\n")


def test_one_process_cannot_take_more_memory_than_allowed(calls: Zygote) -> None:
    ended = calls.python(MEMORY_OF_ONE)
    assert sizes(ended) == ("exited", 1)
    assert ended.stderr.endswith(b"MemoryError\n")


@pytest.mark.parametrize("script", [MEMORY_OF_MANY, HIDDEN_MEMORY])
def test_nor_can_many_together(calls: Zygote, script: str) -> None:
    ended = calls.python(script)
    assert (ended.fate, ended.message) == ("memory", "more than 536870912 bytes of memory")


def test_the_tables_of_ones_pages_are_memory_too(calls: Zygote) -> None:
    assert calls.python(PAGE_TABLES, limits={"memory": 64 * 2**20}).fate == "memory"


# All of such memory would stay allocated while one page of it is mapped, and only that page would be counted.
@pytest.mark.parametrize("descriptor", ["-1", "os.open('/dev/zero', os.O_RDWR)", "os.open('/dev/full', os.O_RDWR)"])
def test_there_is_no_memory_to_share_that_is_not_counted(calls: Zygote, descriptor: str) -> None:
    ended = calls.python(f"import mmap, os\nmmap.mmap({descriptor}, 2**20)[5]")
    assert sizes(ended) == ("exited", 1)
    assert b"Error: [Errno" in ended.stderr


def test_there_are_zeros_as_many_as_one_wants(calls: Zygote) -> None:
    assert calls.shell("head -c 5 /dev/zero | od -An -tx1").stdout == b" 00 00 00 00 00\n"


def test_files_cannot_take_more_than_allowed_wherever_they_are(calls: Zygote) -> None:
    places = ("/call", "/tmp", "/dev/shm")
    script = "; ".join(f"head -c 30000000 /dev/zero > {place}/file" for place in places)
    script += "; cat " + " ".join(f"{place}/file" for place in places) + " | wc -c"
    ended = calls.shell(script)
    assert b"No space left on device" in ended.stderr
    assert 60_000_000 < int(ended.stdout) <= 64 * 2**20


def test_nor_can_there_be_any_number_of_files(calls: Zygote) -> None:
    ended = calls.python(MANY_FILES, limits={"disk": 2**20})
    count, _, why = ended.stdout.decode().strip().partition(" ")
    assert int(count) <= 256
    assert why == "No space left on device"


def test_signals_to_the_supervisor_do_not_reach_it(calls: Zygote) -> None:
    ended = calls.shell(
        "for name in KILL STOP TERM INT HUP QUIT CHLD PIPE USR1 ABRT; do kill -$name 1; done; echo on; exit 3"
    )
    assert (*sizes(ended), ended.stdout) == ("exited", 3, b"on\n")


def test_signals_to_all_processes_end_only_the_call_itself(calls: Zygote) -> None:
    assert sizes(calls.shell("kill -KILL 0; sleep 60")) == ("signalled", 9)
    assert calls.shell("sleep 60 & kill -KILL -1; echo on").fate in ("exited", "signalled")


def test_a_call_that_stops_all_its_processes_ends_at_the_deadline(calls: Zygote) -> None:
    assert calls.shell("sleep 60 & kill -STOP -1; kill -STOP $$; echo on", seconds=0.5).fate == "time"


def test_a_command_that_closes_its_descriptors_is_still_waited_for(calls: Zygote) -> None:
    ended = calls.shell("exec 0<&- 1>&- 2>&-; sleep 0.2; exit 5")
    assert sizes(ended) == ("exited", 5)


def test_processor_time_has_a_limit_of_its_own(calls: Zygote) -> None:
    ended = calls.python(CPU_LIMIT)
    assert ended.stdout == b"(31, 32)\n"
    assert (*sizes(ended), ended.message) == ("cpu", 24, "more than 31 seconds of processor time in one process")


def test_limits_cannot_be_raised(calls: Zygote) -> None:
    assert calls.python(RAISED_LIMITS).stdout == b""


def test_descriptors_are_limited(calls: Zygote) -> None:
    assert calls.python(OPEN_MANY).stdout == b"255 Too many open files\n"


@pytest.mark.parametrize(
    "script",
    [
        "cat /proc/1/environ",
        "ls /proc/1/fd/",
        "cat /proc/1/maps",
        "cat /proc/1/mem",
        "ls /proc/1/root/",
        "ls /proc/1/cwd/",
        "cat /proc/1/stack /proc/1/syscall",
        "readlink /proc/1/exe",
        "mount -t tmpfs none /call",
        "umount /call",
        "unshare -U true",
        "unshare -m true",
        "chroot / /bin/true",
        "nsenter -t 1 -m true",
        "mknod /call/device c 1 1",
        "echo 0 > /proc/sys/kernel/hostname",
        "echo -1000 > /proc/self/oom_score_adj",
        "hostname other",
        "nice -n -20 true 2>&1 | grep -v nice",
        "su -c true",
        "chown 0 /call",
        "touch /dev/null",
        "setsid --wait true",
        "ping -c1 -W1 127.0.0.1",
    ],
)
def test_what_a_call_has_no_business_with_fails(calls: Zygote, script: str) -> None:
    ended = calls.shell(script, seconds=10.0)
    assert ended.fate == "exited"
    assert ended.code != 0
    assert ended.stdout == b""


def test_no_capability_is_left_and_none_can_return(calls: Zygote) -> None:
    ended = calls.shell("grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp)' /proc/self/status")
    fields = dict(line.split(b":\t") for line in ended.stdout.splitlines())
    assert {int(fields[name], 16) for name in (b"CapInh", b"CapPrm", b"CapEff", b"CapAmb")} == {0}
    assert (fields[b"NoNewPrivs"], fields[b"Seccomp"]) == (b"1", b"2")


def test_only_the_processes_of_the_call_are_to_be_seen(calls: Zygote) -> None:
    ended = calls.shell("ls /proc | grep -v '[0-9]'; cat /proc/[0-9]*/comm | sort -u")
    assert set(ended.stdout.split()) <= {
        b"self",
        b"thread-self",
        b"sh",
        b"sort",
        b"cat",
        b"python3.11",
        b"python3",
        b"python",
    }


def test_the_machines_first_victim_when_memory_runs_out_is_the_call(calls: Zygote) -> None:
    assert calls.shell("cat /proc/self/oom_score_adj").stdout == b"1000\n"


def test_no_program_of_the_machines_is_started_for_a_crash_and_no_priority_can_be_had(calls: Zygote) -> None:
    script = "import resource as r; print(*(r.getrlimit(n) for n in (r.RLIMIT_CORE, r.RLIMIT_NICE, r.RLIMIT_RTPRIO)))"
    core, *others = calls.python(script).stdout.decode().strip().split(") ")
    assert core == ("(1, 1" if resource.getrlimit(resource.RLIMIT_CORE)[1] else "(0, 0")
    assert others == ["(0, 0", "(0, 0)"]


def test_calls_give_way_to_all_else(calls: Zygote) -> None:
    ended = calls.python("import os; print(os.nice(0), os.sched_getscheduler(0) == os.SCHED_BATCH)")
    # Added to the niceness of the server, which is this process here.
    assert ended.stdout == b"%d True\n" % min(19, os.nice(0) + 10)
