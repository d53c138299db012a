"""`pegboard threads`, and calls that are stored in one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surfaces.cli.run_program import Program

QUESTION = "What is 6 * 7?"
ANSWER = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "Let me see."},
        {"type": "tool_use", "id": "toolu_1", "name": "math_eval", "input": {"expression": "6 * 7"}},
    ],
}


@pytest.fixture
def thread(member: Program) -> str:
    return member.run("threads", "new", "Sums").done().out.strip()


def test_a_new_thread_is_listed_renamed_and_removed(member: Program, thread: str) -> None:
    assert "Sums" in member.run("threads", "list").done().out
    member.run("threads", "rename", thread, "Products").done()
    (listed,) = member.run("threads", "list", "--json").done().json["items"]
    assert (listed["id"], listed["title"], listed["messages"]) == (thread, "Products", 0)
    assert member.run("threads", "show", thread).done().out == ""
    assert member.run("threads", "remove", thread, "--yes").done().out == f"removed {thread}\n"
    refused = member.run("threads", "show", thread)
    assert (refused.code, refused.out) == (1, "")


def test_without_a_title_it_is_called_after_what_is_reported_first(member: Program) -> None:
    thread = member.run("threads", "new", "--json").done().json
    assert thread["title"] is None
    member.run("threads", "add", thread["id"], QUESTION).done()
    assert QUESTION in member.run("threads", "list").done().out


def test_what_was_reported_is_shown_with_calls_and_the_outcome_of_them(member: Program, thread: str) -> None:
    member.run("threads", "add", thread, "--role", "system", "Be\nbrief.").done()
    member.run("threads", "add", thread, QUESTION).done()
    member.run("call", "math_eval", "expression=6 * 7", "--thread", thread).done()
    assert member.run("call", "math_eval", "expression=1/0", "--thread", thread, "--follow").code == 1
    shown = member.run("threads", "show", thread).done().out
    blocks = [block.splitlines() for block in shown.split("\n\n")]
    assert [block[0].split()[0] for block in blocks] == ["system", "user", "assistant", "assistant"]
    assert blocks[0][1:] == ["  Be", "  brief."]
    assert blocks[1][1:] == [f"  {QUESTION}"]
    assert blocks[2][1] == "  → Math Eval (expression: 6 * 7)"
    assert blocks[2][2].startswith("    ✓ result: 42  ")
    assert blocks[3][2].startswith("    ✗ Division by zero")
    assert "(execution_failed)" in blocks[3][2]


def test_messages_of_any_dialect_are_added_and_given_out_in_another(
    member: Program, thread: str, tmp_path: Path
) -> None:
    file = tmp_path / "said.json"
    file.write_text(json.dumps([{"role": "user", "content": QUESTION}, ANSWER]))
    added = member.run("threads", "add", thread, "--input", str(file)).done()
    assert "? no result is known" in added.out
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "42"}]}
    answered = member.run("threads", "add", thread, "--input", "-", "--from", "anthropic", stdin=json.dumps(result))
    assert "✓ 42" in answered.done().out
    history = member.run("threads", "show", thread, "--as", "openai").done().json["items"]
    assert [message["role"] for message in history] == ["user", "assistant", "tool"]
    assert history[1]["tool_calls"][0]["function"]["name"] == "math_eval"
    assert history == member.run("threads", "show", thread, "--as", "openai", "--json").done().json["items"]


def test_a_long_thread_is_shown_in_pieces_or_whole(member: Program, thread: str) -> None:
    for number in range(3):
        member.run("threads", "add", thread, f"number {number}").done()
    first = member.run("threads", "show", thread, "--limit", "2").done()
    assert "number 1" in first.out
    assert "number 2" not in first.out
    assert "More results. Show all: --all. Next page: --cursor " in first.err
    assert "number 2" in member.run("threads", "show", thread, "--limit", "1", "--all").done().out


def test_a_thread_is_its_owners_alone(admin: Program, thread: str) -> None:
    for words in (["show", thread], ["add", thread, "hello"], ["rename", thread, "mine"], ["remove", thread]):
        refused = admin.run("threads", *words)
        assert (refused.code, refused.out) == (1, ""), words
        assert "not found" in refused.err
    assert admin.run("call", "echo", "--thread", thread).code == 1


@pytest.mark.parametrize(
    "words", [[], ["hello", "--input", "-"], ["--input", "-", "--role", "user"], ["hello", "--from", "openai"]]
)
def test_what_to_add_must_be_clear(member: Program, thread: str, words: list[str]) -> None:
    assert member.run("threads", "add", thread, *words, stdin="{}").code == 2


def test_a_dialect_is_not_given_out_as_a_whole(member: Program, thread: str) -> None:
    assert member.run("threads", "show", thread, "--as", "openai", "--all").code == 2


def test_what_others_reported_cannot_steer_a_terminal(member: Program, thread: str) -> None:
    member.run("threads", "add", thread, "\x1b[2Jgone\x07").done()
    member.run("call", "echo", "a=\x1b[2J", "--thread", thread).done()
    member.run("threads", "rename", thread, "a\x1b[31m").done()
    for words in (["show", thread], ["list"]):
        assert not {"\x1b", "\x07"} & set(member.run("threads", *words).done().out)
    # The output for programs is unchanged.
    assert member.run("threads", "show", thread, "--json").done().json["items"][0]["content"] == "\x1b[2Jgone\x07"


def test_json_for_a_remembered_call_is_the_same_as_for_any_other(member: Program, thread: str) -> None:
    remembered = member.run("call", "echo", "a=1", "--json", "--thread", thread).done().json
    assert remembered.keys() == member.run("call", "echo", "a=1", "--json").done().json.keys()
    assert remembered["result"] == {"echo": {"a": "1"}}
