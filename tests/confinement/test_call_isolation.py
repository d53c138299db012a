"""Changes that code makes to Python, its process and its files for the next call: the next call is not affected.

The fixture `board` checks the state after every attack in all of these modules.
"""

from __future__ import annotations

import asyncio

import pytest

from tests.confinement.targets import SHOWN, Target, table

EVIL = "\n    def evil(*_args, **_kwargs): return 'evil'"
# Each returns None after it has made its change.
POISON = {
    "functions that are built in": (
        f"import builtins\ndef f():{EVIL}\n    builtins.sum = builtins.sorted = builtins.print = evil"
    ),
    "all exceptions": "import builtins\ndef f():\n    builtins.Exception = builtins.BaseException = int",
    "imports": f"import builtins\ndef f():{EVIL}\n    builtins.__import__ = evil",
    "new names": "import builtins\ndef f():\n    builtins.left = builtins.__left__ = 'x'",
    "modules": "import json, sys\ndef f():\n    sys.modules['json'] = sys.modules['os'] = sys\n    json.dumps = None",
    "functions of modules": f"import json, os, time\ndef f():{EVIL}\n    json.loads = os.listdir = time.time = evil",
    "finders": (
        "import sys\ndef f():\n    sys.meta_path.insert(0, sys)\n    sys.path_hooks.append(sys)\n"
        "    sys.path.insert(0, '/tmp')"
    ),
    "the main module": (
        "import sys\ndef f():\n    sys.modules['__main__'].left = 'x'\n    sys.modules['tool'].left = 'x'"
    ),
    "the environment": (
        "import os\ndef f():\n    os.environ['LEFT'] = os.environ['PATH'] = '/tmp'\n    os.environ.pop('HOME')"
    ),
    "the environment, in C": "import ctypes\ndef f():\n    ctypes.CDLL(None).setenv(b'LD_PRELOAD', b'/tmp/x.so', 1)",
    "the folder and the mask": "import os\ndef f():\n    os.chdir('/tmp')\n    os.umask(0)",
    "limits": (
        "import resource\ndef f():\n    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "    resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40))"
    ),
    "priority": "import os\ndef f():\n    os.nice(5)",
    "signal handlers": (
        "import signal\ndef f():\n    signal.signal(signal.SIGTERM, print)\n"
        "    signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "    signal.pthread_sigmask(signal.SIG_BLOCK, [10, 12])"
    ),
    "a timer": "import signal\ndef f():\n    signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)",
    "tracing": (
        "import sys, threading\ndef f():\n    sys.settrace(print)\n    sys.setprofile(None)\n"
        "    threading.settrace(print)\n    sys.settrace(None)"
    ),
    "hooks": (
        "import gc, sys\ndef f():\n    gc.callbacks.append(print)\n"
        "    sys.excepthook = sys.displayhook = sys.unraisablehook = print\n"
        "    sys.addaudithook(lambda *_: None)\n    gc.callbacks.clear()"
    ),
    "the interpreter's settings": (
        "import gc, sys\ndef f():\n    sys.setrecursionlimit(5000)\n"
        "    sys.setswitchinterval(1.0)\n    gc.disable()\n    sys.dont_write_bytecode = False"
    ),
    "random numbers": "import random\ndef f():\n    random.seed(1)",
    "warnings": "import warnings\ndef f():\n    warnings.simplefilter('error')\n    warnings.showwarning = print",
    "locale and time zone": (
        "import locale, os, time\ndef f():\n    os.environ['TZ'] = 'Asia/Tokyo'\n"
        "    time.tzset()\n    locale.setlocale(locale.LC_ALL, 'C')"
    ),
    "a number, in memory": "import ctypes\ndef f():\n    ctypes.memmove(id(256) + 24, (301).to_bytes(4, 'little'), 4)",
    "a type, in memory": (
        "import ctypes, gc\ndef f():\n    gc.get_referents(str.__dict__)[0]['left'] = 'x'\n"
        "    gc.get_referents(int.__dict__)[0]['__add__'] = None"
    ),
    "code, in memory": (
        "import ctypes, mmap\ndef f():\n    libc = ctypes.CDLL(None)\n"
        "    start = ctypes.cast(libc.system, ctypes.c_void_p).value & -4096\n"
        "    assert libc.mprotect(ctypes.c_void_p(start), 4096, 7) == 0\n"
        "    ctypes.memset(ctypes.cast(libc.system, ctypes.c_void_p).value, 0xcc, 4)"
    ),
    "files": (
        "def f():\n    for place in ('.', '/tmp', '/dev/shm'):\n"
        "        open(f'{place}/left', 'w').write('x')\n"
        "        open(f'{place}/json.py', 'w').write('raise SystemExit')"
    ),
    "files that nobody can remove": (
        "import os\ndef f():\n    os.makedirs('a/b/c')\n    open('a/b/c/left', 'w').close()\n"
        "    os.chmod('a/b', 0)\n    os.chmod('a', 0)"
    ),
    "the work folder itself": (
        "import os\ndef f():\n    os.chmod('.', 0)\n    os.chmod('/tmp', 0)\n    os.chmod('/dev/shm', 0o777)"
    ),
    "marks on the work folder": (
        "import os\ndef f():\n    for place in ('.', '/tmp', '/dev/shm'):\n"
        "        os.utime(place, (1, 1))\n        try: os.setxattr(place, 'user.left', b'x')\n"
        "        except OSError: pass"
    ),
    "a file that only a socket knows": """
import array, os, socket
def f():
    one, other = socket.socketpair()
    file = os.open("large", os.O_RDWR | os.O_CREAT)
    os.write(file, bytes(8 * 2**20))
    os.unlink("large")
    carried = array.array("i", [file, one.fileno(), other.fileno()])
    for end in (one, other):
        end.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, carried)])
""",
    "who waits for the next call": """
import os, signal
def f():
    for pid in [int(name) for name in os.listdir("/proc") if name.isdecimal() and int(name) != os.getpid()]:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGSTOP):
            try: os.kill(pid, number)
            except OSError: pass
        for name in ("mem", "oom_score_adj", "comm", "coredump_filter", "timerslack_ns", "clear_refs"):
            try:
                with open(f"/proc/{pid}/{name}", "r+b", buffering=0) as file: file.write(b"1")
            except OSError: pass
        for call, given in (
            (os.sched_setaffinity, (pid, [0])),
            (os.setpriority, (os.PRIO_PROCESS, pid, 19)),
            (os.sched_setscheduler, (pid, os.SCHED_IDLE, os.sched_param(0))),
        ):
            try: call(*given)
            except OSError: pass
""",
    "links": (
        "import os\ndef f():\n"
        "    for name, to in (('a', '/etc/passwd'), ('b', '/proc/1/root'), ('c', '..'), ('d', "
        "'d')): os.symlink(to, name)"
    ),
    "locks": (
        "import fcntl\nkept = []\ndef f():\n    kept.append(open('/usr/bin/env'))\n"
        "    fcntl.flock(kept[0], fcntl.LOCK_EX)"
    ),
    "the result's descriptor": "import os\ndef f():\n    os.dup2(3, 100)\n    os.set_inheritable(100, True)",
    "a forked process's": (
        "import os\ndef f():\n    if os.fork() == 0:\n        os.environ['LEFT'] = 'x'\n        return 'second'"
    ),
}
# Code, libraries and programs that other calls run, and that could be changed if they were not mounted read-only.
WRITES = """
import os, sys, sysconfig
def f():
    places = [os.__file__, sysconfig.get_path("purelib"), sysconfig.get_path("stdlib"), sys.prefix, sys.base_prefix,
              sys.executable, "/usr/bin/env", "/usr", "/etc", "/etc/passwd", "/", "/bin/sh", "/lib", "/dev", "/call/..",
              os.path.join(sysconfig.get_path("stdlib"), "__pycache__"), "/proc/sys/kernel/hostname",
              "/etc/ld.so.cache", "/etc/ld.so.preload", "/usr/local/lib", "/usr/local/bin", "/dev/null/x", "/var/tmp",
              "/run"]
    done = []
    for place in places:
        target = os.path.join(place, "left.py") if os.path.isdir(place) else place
        for name, act in {
            "write": lambda: os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o666)),
            "append": lambda: os.close(os.open(target, os.O_WRONLY | os.O_APPEND)),
            "remove": lambda: os.unlink(target),
            "chmod": lambda: os.chmod(place, 0o777),
            "chown": lambda: os.chown(place, os.getuid(), os.getgid()),
            "rename": lambda: os.rename(place, "/tmp/moved"),
            "replace": lambda: os.rename("/tmp", place),
            "link": lambda: os.link(target, "/tmp/linked"),
            "mkdir": lambda: os.mkdir(target + ".d"),
            "utime": lambda: os.utime(place, (1, 1)),
            "xattr": lambda: os.setxattr(place, "user.left", b"x"),
        }.items():
            try:
                act()
                done.append(f"{name} {place}")
            except OSError:
                pass
    return done
"""


@pytest.mark.parametrize("code", table(POISON))
async def test_the_next_call_finds_all_as_before(board: Target, code: str) -> None:
    assert (await board.python(code)).output is None


async def test_calls_at_the_same_time_are_poisoned_as_little(board: Target) -> None:
    names = [await board.add("python", {"code": code}) for code in POISON.values()]
    await asyncio.gather(*(board.call(name) for name in names), *(board.check() for _ in range(5)))


async def test_nothing_that_others_run_can_be_written_to(board: Target) -> None:
    assert (await board.python(WRITES)).output == []


async def test_two_calls_do_not_draw_the_same_random_numbers(board: Target) -> None:
    name = await board.add(
        "python",
        {"code": "import os, random, uuid\ndef f(): return [random.random(), uuid.uuid4(), os.urandom(8).hex()]"},
    )
    one, other = [(await board.call(name)).output for _ in range(2)]
    assert not set(one) & set(other)


async def test_a_call_cannot_see_the_files_of_another_that_runs(board: Target, mark: str) -> None:
    look = (
        "import glob\n"
        "def f(): return glob.glob('/call/*') + glob.glob('/tmp/*') + glob.glob('/dev/shm/*') + "
        "glob.glob('/proc/[0-9]*')"
    )
    write = f"for place in . /tmp /dev/shm; do echo {mark} > $place/mine; done; sleep 0.3; cat mine"
    one, other = await asyncio.gather(board.shell(write), board.python(look))
    assert one.output["stdout"] == f"{mark}\n"
    assert len(other.output) <= 3 + len(SHOWN), "its supervisor, itself, and one that waits"
