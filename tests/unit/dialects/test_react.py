"""Texts of thoughts, actions and observations."""

from __future__ import annotations

import pytest
from hypothesis import given

from pegboard.dialects.shared.react_text import ReactStep, has_label, parse_react_steps, remove_code_fence
from tests.unit.dialects.framework_payloads import TEXTS


def test_each_action_has_its_thought_input_and_observation() -> None:
    text = (
        "Thought: one\nmore\nAction: a\nAction Input: {\n}\nObservation: 1\n2\nThought: two\nAction: b\nAction Input: x"
    )
    assert parse_react_steps(text).steps == [
        ReactStep("a", "{\n}", "one\nmore", "1\n2"),
        ReactStep("b", "x", "two", None),
    ]


def test_an_observation_answers_all_actions_before_it() -> None:
    text = "Action: a\nAction Input: {}\nAction: b\nAction Input: {}\nObservation: 1"
    assert [step.observation for step in parse_react_steps(text).steps] == ["1", "1"]


@pytest.mark.parametrize(
    "text",
    [
        "**Action:** a\n**Action Input:** {}",
        "Action 1: a\nAction 1 Input 1: {}",
        "  Action : a\r\n  Action Input : {}",
        "Action: a Action Input: {}",
        "<think>Action: x\nAction Input: {}</think>\nAction: a\nAction Input: {}",
        "<think>\nAction: x\n</think>Action: a\nAction Input: {}",
        "so I say Action: x\nAction: y\nAction Input: {}\n</think>\n\nAction: a\nAction Input: {}",
        "Action: a\nAction Input: {}\n<think>\nAction: x\nAction Input: {}",
    ],
)
def test_labels_may_be_adorned_and_what_is_thought_is_no_action(text: str) -> None:
    steps = parse_react_steps(text).steps
    assert [(step.action, step.input) for step in steps] == [("a", "{}")]


def test_a_tag_within_the_input_is_part_of_it() -> None:
    (step,) = parse_react_steps('Action: a\nAction Input: {"x": "</think> and <think> y"}').steps
    assert step.input == '{"x": "</think> and <think> y"}'


def test_nothing_is_to_be_done_beside_a_final_answer() -> None:
    text = "Action: a\nAction Input: {}\nObservation: 1\nAction: b\nAction Input: {}\nFinal Answer: 2"
    assert [step.action for step in parse_react_steps(text).list_actions()] == ["a"]


@pytest.mark.parametrize("text", ["```json\n{}\n```", "```\n{}```", " {} ", "```{}"])
def test_a_fence_is_no_part_of_what_it_holds(text: str) -> None:
    assert remove_code_fence(text) == "{}"


@pytest.mark.parametrize(
    ("text", "expected"), [("a\nAction: b", True), ("x </think>", True), ("an Action: b", False), ("a\nb", False)]
)
def test_a_line_that_would_be_taken_for_a_label_is_noticed(text: str, expected: bool) -> None:
    assert has_label(text) is expected


@given(TEXTS)
def test_any_text_has_steps_and_none_of_them_is_longer_than_it(text: str) -> None:
    for step in parse_react_steps(text).steps:
        assert len(step.action) + len(step.input or "") <= len(text)
