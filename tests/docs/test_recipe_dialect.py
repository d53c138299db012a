"""The recipe "a dialect" is complete: one module and one line are enough, in a copy of the source code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT, section

MODULE = '''
"""Notes: entries with a voice, deeds and outcomes."""

from pegboard.dialects.base import Dialect
from pegboard.dialects.provider_rules import TextMarks
from pegboard.dialects.parsed_calls import Unreadable
from pegboard.dialects.shared.turns import Turn

_SPEAKERS = {"guest": "user", "clerk": "assistant", "desk": "tool"}


class Notes(Dialect):
    """Entries such as {voice: clerk, words, deeds: [{verb, with, nr}]}; the desk gives the outcomes."""

    name = "notes"
    keys = frozenset({"voice", "deeds"})
    text_marks = TextMarks(calls="DEED:")

    def recognises(self, item):
        """Recognise an entry."""
        return isinstance(item, dict) and item.get("voice") in _SPEAKERS

    def read(self, item, into):
        """Read the deeds or the outcomes of an entry."""
        if not self.recognises(item):
            raise Unreadable("'notes' has entries")
        for deed in item.get("deeds", ()):
            into.call(deed["verb"], deed["with"], deed["nr"])
        for outcome in item.get("outcomes", ()):
            into.answer(outcome["nr"], outcome["gave"])

    def compose(self, calls):
        """Return one entry of the clerk."""
        deeds = [{"verb": call.name, "with": call.arguments, "nr": call.id} for call in calls]
        return {"voice": "clerk", "deeds": deeds}

    def render(self, answers, *, many):
        """Return one entry of the desk."""
        return {"voice": "desk", "outcomes": [{"nr": one.id, "gave": one.result.output} for one in answers]}

    def define(self, tool):
        """Return the verb."""
        return {"verb": tool.name}

    def say(self, role, text, id):
        """Return an entry with words."""
        return [{"voice": "clerk" if role == "assistant" else "guest", "words": text}]

    def compose_turn(self, text, calls, id):
        """Return an entry with words and deeds."""
        return [self.compose(calls) | ({"words": text} if text else {})]

    def turns(self, item, speaker):
        """Return an entry as a turn."""
        voice = _SPEAKERS.get(item.get("voice"))
        return None if voice is None else [Turn(voice, item.get("words"), item)]
'''
# Runs with the copy: detection, an answer, a thread of it, and a message of a guest beside one of another provider.
PROGRAM = """
import asyncio, json, sys
import pegboard
from pegboard.testing import memory_board

ECHO = {"name": "greet", "tool_type": "mock", "config": {"mock_response": "hello"}, "input_schema": {"type": "object"}}

async def main(entry):
    async with memory_board([ECHO]) as board:
        thread = await board.threads.create(board.admin)
        await board.threads.add(thread.id, board.admin, {"voice": "guest", "words": "Greet Ann.", "deeds": []})
        answer = await board.run(entry, thread=thread.id)
        await board.threads.add(thread.id, board.admin, {"role": "assistant", "content": "Done."})
        history = await board.threads.history(thread.id, board.admin, "notes")
        messages = (await board.threads.messages(thread.id, board.admin)).items
        return {
            "source": pegboard.__file__,
            "detected": board.dialects.detect(entry).name,
            "answer": answer,
            "history": history.items,
            "openai": (await board.threads.history(thread.id, board.admin, "openai_chat")).items,
            "messages": [[message.role, message.content, message.dialect] for message in messages],
        }

print(json.dumps(asyncio.run(main(json.loads(sys.argv[1])))))
"""
ENTRY = {"voice": "clerk", "words": "I greet.", "deeds": [{"verb": "greet", "with": {"who": "Ann"}, "nr": "d1"}]}


def run(copy: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python on the copy of the source code."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PEGBOARD_HOME": str(copy / "home")}
    return subprocess.run(
        [sys.executable, *command], cwd=copy, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the source code to which the recipe was applied: a module, and a line in the catalog."""
    recipe = section("docs/architecture.md", "Recipes").partition("- **a dialect**")[2].partition("\n- **")[0]
    assert "one new module in `dialects/`" in recipe and "one line in `dialects/catalog.py`" in recipe
    shutil.copytree(ROOT / "src", tmp_path / "src")  # with the compiled modules, which stay valid
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    for folder in ("tests", "bench"):
        (tmp_path / folder).mkdir()
    dialects = tmp_path / "src" / "pegboard" / "dialects"
    (dialects / "notes.py").write_text(MODULE.lstrip(), encoding="utf-8")
    catalog = dialects / "catalog.py"
    lines = catalog.read_text(encoding="utf-8").splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if line.startswith('    "plain:'))
    catalog.write_text("".join([*lines[:place], '    "notes:Notes",\n', *lines[place:]]), encoding="utf-8")
    return tmp_path


def test_one_module_and_one_line_are_a_dialect_that_is_detected_answered_and_remembered(copy: Path) -> None:
    done = run(copy, "-c", PROGRAM, json.dumps(ENTRY))
    assert done.returncode == 0, done.stderr
    shown: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert shown["source"].startswith(str(copy))
    outcome = {"voice": "desk", "outcomes": [{"nr": "d1", "gave": "hello"}]}
    assert shown["detected"] == "notes"
    assert shown["answer"] == outcome
    assert shown["messages"] == [
        ["user", "Greet Ann.", "notes"],
        ["assistant", "I greet.", "notes"],
        ["assistant", "Done.", None],
    ]
    done_entry = {"voice": "clerk", "words": "Done."}
    assert [shown["history"][1:], shown["history"][0]["words"]] == [[ENTRY, outcome, done_entry], "Greet Ann."]
    assert [message["role"] for message in shown["openai"]] == ["user", "assistant", "tool", "assistant"]


def test_a_dialect_that_imports_another_one_is_found(copy: Path) -> None:
    module = copy / "src" / "pegboard" / "dialects" / "notes.py"
    checked = [str(copy / ".ci" / "structure.py")]
    assert run(copy, *checked).returncode == 0
    module.write_text(f"{module.read_text(encoding='utf-8')}\nfrom pegboard.dialects.ollama import Ollama\n", "utf-8")
    found = run(copy, *checked)
    assert found.returncode == 1
    assert "notes.py:" in found.stderr and "imports another dialect" in found.stderr
