"""The programs that tools need work with the filter of system calls."""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.unit.sandbox.confined import run_under_filter

PYTHON = {
    "numpy and pandas": """
        import numpy, pandas
        frame = pandas.DataFrame({"price": numpy.random.default_rng(1).random(10_000)})
        assert len(frame.price.rolling(14).mean().dropna()) == 9_987
        square = numpy.ones((500, 500)) @ numpy.ones((500, 500))
        assert square[0, 0] == 500
        frame.to_csv("prices.csv"), pandas.read_csv("prices.csv")
        print("done")
    """,
    "subprocesses": """
        import subprocess
        assert subprocess.run(["sh", "-c", "cat; exit 3"], input=b"in", capture_output=True).stdout == b"in"
        assert subprocess.Popen(["true"], preexec_fn=lambda: None, process_group=0).wait() == 0
        assert subprocess.run("echo $((1 + 1))", shell=True, capture_output=True).stdout == b"2\\n"
        print("done")
    """,
    "multiprocessing": """
        import multiprocessing
        from multiprocessing import shared_memory
        from concurrent.futures import ProcessPoolExecutor
        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                assert pool.map(abs, [-1, -2]) == [1, 2]
            with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
                assert list(pool.map(abs, [-1, -2])) == [1, 2]
            queue = multiprocessing.get_context("fork").Queue()
            queue.put(1)
            assert queue.get() == 1
            memory = shared_memory.SharedMemory(create=True, size=100)
            memory.close(), memory.unlink()
            print("done")
    """,
    "threads": """
        import threading
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(abs, range(-100, 0))) == 5050
        print("done")
    """,
    "asyncio": """
        import asyncio
        async def main():
            process = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
            assert (await process.communicate(b"in"))[0] == b"in"
            assert await asyncio.to_thread(lambda: 1) == 1
            async with asyncio.timeout(5):
                await asyncio.sleep(0.001)
        asyncio.run(main())
        print("done")
    """,
    "files": """
        import fcntl, mmap, os, pathlib, shutil, sqlite3, tempfile
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            other.write(b"x" * 5000), other.flush()
            assert mmap.mmap(other.fileno(), 5000)[4999:] == b"x"
            pathlib.Path(folder, "a").write_text("a")
            shutil.copytree(folder, "copy"), shutil.move("copy", "moved"), os.chmod("moved", 0o755)
            shutil.make_archive("packed", "gztar", "moved"), shutil.unpack_archive("packed.tar.gz", "again")
        with sqlite3.connect("data.db") as data:
            assert data.execute("pragma journal_mode = wal").fetchone() == ("wal",)
            data.execute("create table t (a)"), data.execute("insert into t values (1)")
        print("done")
    """,
    "calls back from C": """
        import ctypes
        compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
        numbers = (ctypes.c_int * 3)(3, 1, 2)
        ctypes.CDLL(None).qsort(numbers, 3, 4, compare(lambda one, other: one[0] - other[0]))
        assert list(numbers) == [1, 2, 3]
        print("done")
    """,
}

GIT = """
git init -q . && git config user.email a@b && git config user.name a && echo one > file && git add file &&
git commit -qm first && git clone -q . copy && git -C copy log --oneline | wc -l && git gc -q && git status --short
"""

SHELL = {
    "sh": ("for i in 1 2 3; do echo $i; done | sort -r | head -1; (cd / && pwd); cat <<E\nhere\nE", "3\n/\nhere\n"),
    "ls": ("touch a b && ls -l a >/dev/null && ls", "a\nb\n"),
    "grep": ("printf 'one\\ntwo\\n' > f && grep -rn two . && printf x | grep -c x -", "./f:2:two\n1\n"),
    "git": (GIT, "1\n?? copy/\n"),
    "tar, gzip, sed, awk, find, xargs": (
        "mkdir d && echo a > d/f && tar czf t.tgz d && rm -r d && tar xzf t.tgz && find d -type f | xargs sed s/a/b/ |"
        " awk '{print $1 $1}' && mkfifo p && (echo through > p & cat p)",
        "bb\nthrough\n",
    ),
    "nice, timeout, ulimit": ("nice -n 19 true && timeout 9 true && ulimit -n 64 && ulimit -n", "64\n"),
    "nohup": ("nohup sh -c 'echo on' 2>/dev/null </dev/null", "on\n"),
    "tail": ("echo one > f; timeout 9 tail -f f 2>/dev/null | head -1", "one\n"),
}  # fmt: skip


@pytest.mark.parametrize("about", PYTHON)
def test_python_works_under_the_filter(about: str, tmp_path: Path) -> None:
    lines = [line.removeprefix(" " * 8) for line in PYTHON[about].splitlines()]
    (tmp_path / "program.py").write_text("\n".join(lines))
    ended = run_under_filter(sys.executable, "-B", "program.py", cwd=tmp_path)
    assert (ended.stdout, ended.stderr, ended.returncode) == ("done\n", "", 0)


@pytest.mark.parametrize("about", SHELL)
def test_commands_work_under_the_filter(about: str, tmp_path: Path) -> None:
    if shutil.which(about.partition(",")[0]) is None:
        pytest.skip(f"{about} is not installed")
    script, printed = SHELL[about]
    ended = run_under_filter("sh", "-c", script, cwd=tmp_path)
    assert (ended.stdout, ended.stderr, ended.returncode) == (printed, "", 0)


class Greeting(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"you asked for {self.path}".encode())

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    """A server on this machine that answers as a proxy would."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Greeting) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def build_command(proxy: str, program: str) -> tuple[str, ...]:
    if program == "curl":
        return ("curl", "-sS", "--max-time", "20", "--proxy", proxy, "http://somewhere.example/")
    code = (
        f"import urllib.request as r; proxy = r.ProxyHandler({{'http': {proxy!r}}})\n"
        "print(r.build_opener(proxy).open('http://somewhere.example/').read().decode(), end='')"
    )
    if program == "httpx":
        code = f"import httpx; print(httpx.get('http://somewhere.example/', proxy={proxy!r}).text, end='')"
    return (sys.executable, "-c", code)


@pytest.mark.parametrize("program", ["curl", "urllib", "httpx"])
def test_a_proxy_can_be_reached_with_a_network(program: str, proxy: str, tmp_path: Path) -> None:
    if program == "curl" and shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    ended = run_under_filter(*build_command(proxy, program), network=True, cwd=tmp_path)
    assert (ended.stdout, ended.stderr) == ("you asked for http://somewhere.example/", "")


@pytest.mark.parametrize("program", ["curl", "urllib", "httpx"])
def test_nothing_can_be_reached_without_a_network(program: str, proxy: str, tmp_path: Path) -> None:
    if program == "curl" and shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    ended = run_under_filter(*build_command(proxy, program), network=False, cwd=tmp_path)
    assert ended.stdout == ""
    assert ended.returncode != 0
