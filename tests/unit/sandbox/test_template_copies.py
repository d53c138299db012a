"""What libraries can expect in the forks of a template, and what calls must not find there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.sandbox.supervisor_channel import make_zygote_spec, zygote
from tests.unit.sandbox.test_template import library

THREAD = "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
WISHES = "import os\ntold = []\nos.register_at_fork(after_in_child=lambda: told.append(os.getpid()))\n"
# State of libraries in the template that may continue to change, and that calls must not see.
GOING_ON = {
    "a thread that writes to its own files": (
        "import os, threading, time\nown = [os.open('/dev/null', os.O_WRONLY) for _ in range(8)]\n"
        "def write():\n    while True:\n        [os.write(one, b'JUNK') for one in own]\n        time.sleep(0.001)\n"
        "threading.Thread(target=write, daemon=True).start()\n"
    ),
    "a thread that prints": (
        "import threading, time\ndef show():\n    while True:\n        print('.', end='')\n        time.sleep(0.001)\n"
        "threading.Thread(target=show, daemon=True).start()\n"
    ),
    "what prints before a fork": "import os\nos.register_at_fork(before=lambda: print('secret', end=' '))\n",
    "what changes the environment before a fork": (
        "import os\nos.register_at_fork(before=lambda: os.environ.update(HOME='/elsewhere', LEFT='1'))\n"
    ),
    "no output at all": "import os\nos.closerange(0, 3)\n",
}
LOOKS = "import os, shelved\ndef main():\n    print('x')\n    return [os.environ['HOME'], os.environ.get('LEFT')]"
DRAWS = {
    "random": "import random\ndef main(): return random.random()",
    "numpy": "import numpy\ndef main(): return numpy.random.random()",
}


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        (WISHES, "import os, shelved\ndef main(): return shelved.told == [os.getpid()]"),
        (THREAD, "import shelved, threading\ndef main(): return threading.active_count() == 1"),
    ],
    ids=["wishes", "threads"],
)
def test_calls_find_what_a_library_counts_on_after_a_fork(folder: Path, user: str, code: str, asked: str) -> None:
    with zygote(library(folder, code), user) as calls:
        assert [calls.function(asked).result for _ in range(2)] == [b'{"ok":true}'] * 2


@pytest.mark.parametrize("code", GOING_ON.values(), ids=GOING_ON)
def test_calls_find_nothing_of_what_a_library_continues_with(folder: Path, user: str, code: str) -> None:
    with zygote(library(folder, code), user) as calls:
        found = {(ended.result, ended.stdout) for ended in (calls.function(LOOKS) for _ in range(10))}
    assert found == {(b'{"ok":["/call",null]}', b"x\n")}


@pytest.mark.parametrize("code", DRAWS.values(), ids=DRAWS)
def test_no_two_calls_draw_the_same_numbers(user: str, code: str) -> None:
    with zygote(make_zygote_spec(modules=["numpy"], allowed=["numpy"]), user) as calls:
        drawn = [calls.function(code).result for _ in range(4)]
    assert len(set(drawn)) == 4 and all(result.startswith(b'{"ok":0.') for result in drawn)


def test_calls_can_have_threads_and_children(user: str) -> None:
    code = (
        "import os, threading\ndef main():\n    seen = []\n"
        "    thread = threading.Thread(target=lambda: seen.append(threading.get_native_id()))\n"
        "    thread.start(); thread.join()\n    child = os.fork()\n    if not child: os._exit(len(seen))\n"
        "    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), threading.main_thread().is_alive()]"
    )
    with zygote(make_zygote_spec(modules=["numpy"], allowed=["numpy"]), user) as calls:
        assert calls.function(code).result == b'{"ok":[1,true]}'
