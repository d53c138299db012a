"""The filter of system calls, on the kernel: every row is a process that confines itself and makes one call."""

from __future__ import annotations

import platform
from collections.abc import Iterator

import pytest

from pegboard.sandbox.child.syscall_numbers import SYSCALL_NUMBERS
from tests.unit.sandbox.confined import Forker, forker

ON_X86_64 = platform.machine() == "x86_64"

NEVER = """
ptrace process_vm_readv process_vm_writev kcmp pidfd_getfd process_madvise process_mrelease
io_uring_setup io_uring_enter io_uring_register io_setup io_submit
mount umount2 open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr open_tree_attr
unshare setns chroot pivot_root open_by_handle_at name_to_handle_at
keyctl add_key request_key bpf perf_event_open userfaultfd kexec_load kexec_file_load
init_module finit_module delete_module reboot swapon swapoff
clock_settime clock_adjtime settimeofday adjtimex sethostname setdomainname
quotactl quotactl_fd acct syslog iopl ioperm modify_ldt fanotify_init fanotify_mark lsm_set_self_attr sync setsid
memfd_create memfd_secret shmget shmat msgget msgsnd semget semop mq_open mq_unlink vmsplice
move_pages migrate_pages mbind set_mempolicy set_mempolicy_home_node
bind listen accept accept4
"""

TOO_NEW = ["clone3", "openat2", "statmount", "listmount", "listns", "inotify_init1", "472", "500", "100000"]

# The system call, and its outcome without a network and with one.
GUARDED = [
    # clone: flags, and the high half that the kernel does not look at
    *[(f"call('clone', 1 << {bit} | 17, 0, 0, 0, 0)", "EPERM", "EPERM") for bit in (17, 25, 26, 27, 28, 29, 30)],
    ("call('clone', 1 << 40 | 1 << 28 | 17, 0, 0, 0, 0)", "EPERM", "EPERM"),
    ("os.waitpid(os.fork() or os._exit(7), 0)[1] >> 8", 7, 7),
    ("subprocess.run(['true']).returncode", 0, 0),
    # personality
    ("call('personality', 0xffffffff)", 0, 0),
    ("call('personality', 0)", 0, 0),
    ("call('personality', 0x0040000)", "EPERM", "EPERM"),
    ("call('personality', 0x0400000)", "EPERM", "EPERM"),
    # terminals
    ("call('ioctl', 0, 0x5412, 0)", "EPERM", "EPERM"),
    ("call('ioctl', 0, 1 << 32 | 0x5412, 0)", "EPERM", "EPERM"),
    ("call('ioctl', 0, 0x541c, 0)", "EPERM", "EPERM"),
    ("call('ioctl', 0, 0x5423, 0)", "EPERM", "EPERM"),
    ("os.isatty(0)", False, False),
    ("fcntl.ioctl(os.pipe()[0], 0x541b, b'1234')[0]", 0, 0),
    # sockets
    ("socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()", "EPERM", None),
    ("socket.socket(socket.AF_INET6, socket.SOCK_STREAM).close()", "EPERM", None),
    ("socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK).close()", "EPERM", None),
    ("socket.socket(socket.AF_INET, socket.SOCK_STREAM, 6).close()", "EPERM", None),
    ("socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)", "EPERM", "EPERM"),
    ("socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)", "EPERM", "EPERM"),
    ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", "EPERM", "EPERM"),
    ("socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)", "EPERM", "EPERM"),
    ("socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", "EPERM", "EPERM"),
    ("socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)", "EPERM", "EPERM"),
    ("socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)", "EPERM", "EPERM"),
    ("socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", "EPERM", "EPERM"),
    ("socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", "EPERM", "EPERM"),
    ("call('socket', 38, 5, 0)", "EPERM", "EPERM"),  # AF_ALG
    ("call('socket', 40, 1, 0)", "EPERM", "EPERM"),  # AF_VSOCK
    ("call('socket', 2, 0x100000001, 0) > 0", "EPERM", True),
    ("call('connect', 99, 0, 0)", "EPERM", "EBADF"),
    ("(lambda pair: [pair[0].send(b'hi'), pair[1].recv(9).decode()])(socket.socketpair())", [2, "hi"], [2, "hi"]),
    ("socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)", "EPERM", "EPERM"),
    ("socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)", "EPERM", "EPERM"),
    ("call('socketpair', 30, 1, 0, 0)", "EPERM", "EPERM"),
    ("call('sendto', 99, 0, 0, 0, 0, 0)", "EBADF", "EBADF"),
    ("call('sendto', 99, 0, 0, 0, 1 << 40, 0)", "EPERM", "EPERM"),
    ("call('sendto', 99, 0, 0, 0, 4096, 16)", "EPERM", "EPERM"),
    ("call('sendmsg', 99, 0, 0x20000000)", "EPERM", "EPERM"),
    ("call('sendmsg', 99, 0, 0x4000)", "EBADF", "EBADF"),
    ("call('sendmmsg', 99, 0, 1, 0x20000000)", "EPERM", "EPERM"),
    ("call('sendmmsg', 99, 0, 1, 0x4000)", "EBADF", "EBADF"),
    ("call('setsockopt', 99, 1, 26, 0, 0)", "EPERM", "EPERM"),
    ("call('setsockopt', 99, 6, 31, 0, 0)", "EPERM", "EPERM"),
    ("call('setsockopt', 99, 6, 1, 0, 0)", "EBADF", "EBADF"),
    *[(f"call('setsockopt', 99, 1, {option}, 0, 0)", "EPERM", "EPERM") for option in (7, 8, 32, 33)],
    ("call('setsockopt', 99, 1, 9, 0, 0)", "EBADF", "EBADF"),
    # pipes that hold more, and pages that are no user's
    ("fcntl.fcntl(os.pipe()[1], 1031, 2**20)", "EPERM", "EPERM"),
    ("fcntl.fcntl(os.pipe()[1], 1032)", 65536, 65536),
    *[(f"call('mmap', 0, 2**21, 3, 0x40000 | {flags}, -1, 0)", "EPERM", "EPERM") for flags in (1, 2, 0x21, 0x22)],
    ("call('mmap', 0, 4096, 3, 0x21, -1, 0)", "EPERM", "EPERM"),
    ("call('mmap', 0, 4096, 3, 0x22, -1, 0) > 0", True, True),
    # limits and priority, of the supervisor and of the process itself
    ("resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))", "EPERM", "EPERM"),
    ("resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))", None, None),
    ("os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)", "EPERM", "EPERM"),
    ("os.setpriority(os.PRIO_USER, 0, 19)", "EPERM", "EPERM"),
    ("os.setpriority(os.PRIO_PROCESS, 0, 19)", None, None),
    ("os.sched_setscheduler(os.getppid(), os.SCHED_IDLE, os.sched_param(0))", "EPERM", "EPERM"),
    ("os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))", None, None),
    ("os.sched_setaffinity(os.getppid(), {0})", "EPERM", "EPERM"),
    ("os.sched_setaffinity(0, os.sched_getaffinity(0))", None, None),
    ("call('ioprio_set', 1, os.getppid(), 3 << 13)", "EPERM", "EPERM"),
    ("call('ioprio_set', 3, 0, 3 << 13)", "EPERM", "EPERM"),
    ("call('ioprio_set', 1, 0, 3 << 13)", 0, 0),
    # files that lend their owner's identity, and devices
    ("os.chmod(made(), 0o4755)", "EPERM", "EPERM"),
    ("os.chmod(made(), 0o2755)", "EPERM", "EPERM"),
    ("os.chmod(made(), 0o1755)", None, None),
    ("os.fchmod(os.open(made(), os.O_RDONLY), 0o4755)", "EPERM", "EPERM"),
    ("os.chmod(made(), 0o4755, follow_symlinks=False)", "EPERM", "EPERM"),
    ("os.chmod('x', 0o4755, dir_fd=os.open('/', os.O_RDONLY))", "EPERM", "EPERM"),
    ("os.open(made() + '1', os.O_CREAT | os.O_WRONLY, 0o4755)", "EPERM", "EPERM"),
    ("os.open(tempfile.gettempdir(), os.O_TMPFILE | os.O_WRONLY, 0o4755)", "EPERM", "EPERM"),
    ("os.open(made(), os.O_RDONLY, 0o4755) > 0", True, True),
    ("os.mknod(made() + '1', stat.S_IFREG | 0o4755)", "EPERM", "EPERM"),
    ("os.mknod(made() + '1', stat.S_IFCHR | 0o600, os.makedev(1, 3))", "EPERM", "EPERM"),
    ("os.mknod(made() + '1', stat.S_IFBLK | 0o600, os.makedev(7, 0))", "EPERM", "EPERM"),
    ("os.mkfifo(made() + '1')", None, None),
]  # fmt: skip

MADE = "def made(): return tempfile.mkstemp(dir=folder)[1]\nfolder = {folder!r}\ntempfile.tempdir = folder"


@pytest.fixture(scope="module")
def forked() -> Iterator[Forker]:
    with forker() as running:
        yield running


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("call", NEVER.split())
def test_what_no_tool_needs_is_refused(forked: Forker, call: str, network: bool) -> None:
    if call not in SYSCALL_NUMBERS[platform.machine()]:
        pytest.skip(f"{call} is a call of another machine")
    # Arguments that the kernel itself would find wrong in another way.
    assert forked.attempt(f"call({call!r}, -1, -1, -1, -1, -1, -1)", seccomp=network) == "EPERM"


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("call", TOO_NEW)
def test_what_is_too_new_does_not_exist(forked: Forker, call: str, network: bool) -> None:
    number = int(call) if call.isdigit() else SYSCALL_NUMBERS[platform.machine()][call]
    assert forked.attempt(f"call({number}, 0, 0, 0, 0)", seccomp=network) == "ENOSYS"


@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize(("code", "without", "with_one"), GUARDED)
def test_a_call_is_judged_by_its_arguments(
    forked: Forker,
    tmp_path_factory: pytest.TempPathFactory,
    code: str,
    without: object,
    with_one: object,
    network: bool,
) -> None:
    folder = str(tmp_path_factory.mktemp("files"))
    outcome = forked.attempt(code, seccomp=network, before=MADE.format(folder=folder))
    assert outcome == (with_one if network else without)


@pytest.mark.skipif(not ON_X86_64, reason="only x86_64 has them")
@pytest.mark.parametrize("number", [2**30 + 39, 2**30 + 521])
def test_a_call_with_short_pointers_kills(forked: Forker, number: int) -> None:
    assert forked.attempt(f"call({number})", seccomp=False) == "SIGSYS"


@pytest.mark.skipif(not ON_X86_64, reason="made of that machine's instructions")
def test_a_call_of_the_other_architecture_kills(forked: Forker) -> None:
    # mov eax, 20; int 0x80; ret: getpid by the i386 way in
    before = (
        "page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))\n"
        "function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))"
    )
    if forked.attempt("function() > 0", before=before) is not True:
        pytest.skip("the kernel has no such way in")
    assert forked.attempt("function()", before=before, seccomp=False) == "SIGSYS"


def test_a_thread_that_was_there_before_is_confined_too(forked: Forker) -> None:
    before = (
        "go, said = threading.Event(), []\n"
        "def late():\n"
        "    go.wait()\n"
        "    try: said.append(call('unshare', -1))\n"
        "    except OSError as error: said.append(errno.errorcode[error.errno])\n"
        "thread = threading.Thread(target=late); thread.start()"
    )
    assert forked.attempt("[go.set(), thread.join(), said][2]", before=before, seccomp=False) == ["EPERM"]
    assert forked.attempt("[go.set(), thread.join(), said][2]", before=before) == ["EINVAL"]


def test_what_a_confined_process_executes_is_confined(forked: Forker) -> None:
    script = "import socket\ntry: socket.socket()\nexcept PermissionError: print('refused')"
    code = f"subprocess.run([sys.executable, '-I', '-S', '-c', {script!r}], capture_output=True, text=True).stdout"
    assert forked.attempt(code, seccomp=False) == "refused\n"


def test_confinement_that_the_kernel_refuses_is_an_error(forked: Forker) -> None:
    # After this filter, which only refuses, not even the confining system call is left.
    before = (
        "from pegboard.sandbox.child import seccomp_filter as bpf\n"
        "refuse = bpf.branch_if_equal(number('seccomp'), bpf.build_return(0x50016), bpf.build_return(0x7fff0000))\n"
        "syscalls.forbid_new_privileges()\n"
        "seccomp._PACKED_FILTERS = {False: bpf.pack_program((bpf.load_word(0), *refuse))}\n"
        "seccomp.apply_seccomp(network=False)"
    )
    message = forked.attempt("'confined'", before=before, seccomp=False, message=True)
    assert message == "[Errno 22] the kernel rejected the seccomp filter: Invalid argument"


def test_another_machine_is_reported(forked: Forker) -> None:
    before = "os.uname = lambda: types.SimpleNamespace(machine='riscv64')"
    message = forked.attempt("'confined'", before=before, seccomp=False, message=True)
    assert (
        "no table of system calls for a 64-bit process on 'riscv64', only for 64-bit ones on x86_64 and aarch64"
        in message
    )
