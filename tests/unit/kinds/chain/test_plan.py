"""All errors in a chain are reported at once, before anything runs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.chain.plan import find_chain_faults, plan_chain
from pegboard.model.api_errors import Invalid
from pegboard.model.chain import MAX_STEPS, Chain

DEEP: Any = json.loads("[" * 900 + "]" * 900)


def step(name: str, **more: Any) -> dict[str, Any]:
    """A step that echoes."""
    return {"id": name, "tool": "echo", **more}


def refers(*names: str) -> dict[str, Any]:
    """Arguments that refer to these steps."""
    return {name: f"{{{{steps.{name}.output}}}}" for name in names}


def test_a_step_waits_for_what_it_refers_to_wherever_it_does() -> None:
    chain = {
        "steps": [
            step("a"),
            step("b"),
            step("c"),
            step("d"),
            step("e"),
            step(
                "f",
                arguments={"deep": [{"x": "and {{steps.a.output.x}}"}]},
                when={"value": "{{steps.b.status}}", "equals": "succeeded"},
                for_each="{{steps.c.output}}",
                after=["d"],
            ),
        ]
    }
    waits = plan_chain(Chain.model_validate(chain))
    assert waits["f"] == {"a", "b", "c", "d"}
    assert waits["a"] == set()


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([step("a"), step("a")], "steps.1.id: 'a' occurs twice"),
        ([step("a", arguments=refers("a"))], "wait for each other: a → a"),
        (
            [step("a", arguments=refers("c")), step("b", after=["a"]), step("c", when="{{steps.b.output}}")],
            "wait for each other: a → c → b → a",
        ),
        ([step("a", arguments=refers("z"))], "there is no step 'z'; there are a"),
        ([step("a", after=["z"])], "steps.0.after: there is no step 'z'"),
        ([step("a", when="yes")], "steps.0.when: must be one reference"),
        ([step("a", when="{{input.a}} {{input.b}}")], "steps.0.when: must be one reference"),
        ([step("a", arguments={"x": "{{item}}"})], "only in the arguments of a for_each"),
        ([step("a", for_each="{{item}}")], "only in the arguments of a for_each"),
        ([step("a", arguments={"x": "{{open(1)}}"})], "refers to nothing"),
        ([step("a", arguments={"x": "{{input.a}}" * 10_001})], "steps.0.arguments: has more than 10,000 references"),
        ([step("a", arguments={"x": DEEP})], "steps.0.arguments: is nested more than 200 levels deep"),
        ([step("a", when={"value": DEEP, "equals": 1})], "steps.0.when: is nested more than 200 levels deep"),
        ([step("a", on_error="fallback", fallback=DEEP)], "steps.0.fallback: is nested more than 200 levels deep"),
    ],
)
def test_what_is_wrong_is_named(steps: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(Invalid) as refused:
        plan_chain(Chain.model_validate({"steps": steps}))
    assert words in str(refused.value)


def test_all_faults_are_reported_together() -> None:
    steps = [step("a", arguments=refers("y")), step("a", after=["z"])]
    with pytest.raises(Invalid) as refused:
        plan_chain(Chain.model_validate({"steps": steps, "output": "{{steps.x.output}}"}))
    assert [fault.field for fault in refused.value.faults] == [
        "steps.0.arguments",
        "steps.1.id",
        "steps.1.after",
        "output",
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"steps": []},
        {"steps": [step(f"s{number}") for number in range(MAX_STEPS + 1)]},
        {"steps": [step("a", fallback=1)]},
        {"steps": [step("a", on_error="fallback")]},
        {"steps": [step("a", on_error="retry")]},
        {"steps": [step("no spaces")]},
        {"steps": [step("a", when={"value": 1})]},
        {"steps": [step("a", when={"value": 1, "at_least": None})]},
        {"steps": [step("a", when={"value": 1, "exists": None})]},
        {"steps": [step("a")], "timeout": 0},
        {"steps": [step("a")], "extra": 1},
    ],
)
def test_what_is_no_chain_is_refused(body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="validation error"):
        Chain.model_validate(body)


@pytest.mark.parametrize("text", ["{{secret:TOKEN}}", "a {{{{secret:TOKEN}}"])
def test_a_chain_that_is_kept_gives_no_secrets_away(text: str) -> None:
    chain = Chain.model_validate({"steps": [step("a", arguments={"x": [text]})]})
    assert plan_chain(chain) == {"a": set()}
    (fault,) = find_chain_faults(chain, "config.chain.")
    assert fault.field == "config.chain.steps"
    assert "gives no secrets to its steps ('TOKEN')" in fault.message


def test_no_more_faults_are_reported_than_anyone_reads() -> None:
    steps = [step(f"s{n}", arguments={"x": "".join(f"{{{{steps.x{m}.output}}}}" for m in range(50))}) for n in range(9)]
    with pytest.raises(Invalid) as refused:
        plan_chain(Chain.model_validate({"steps": steps}))
    assert len(refused.value.faults) == 100


@given(
    st.integers(1, 8).flatmap(lambda n: st.lists(st.sets(st.integers(0, n - 1), max_size=n), min_size=n, max_size=n))
)
def test_a_chain_is_refused_exactly_if_its_steps_go_in_circles(needs: list[set[int]]) -> None:
    steps = [step(f"s{number}", after=[f"s{other}" for other in others]) for number, others in enumerate(needs)]
    left = dict(enumerate(needs))
    while free := [number for number, others in left.items() if not others & left.keys()]:
        for number in free:
            del left[number]
    try:
        plan_chain(Chain.model_validate({"steps": steps}))
    except Invalid:
        assert left
    else:
        assert not left
