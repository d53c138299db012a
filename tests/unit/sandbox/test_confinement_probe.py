"""The probe of the sandbox: it runs once if it succeeds, again if its outcome is unknown, and in bounded time."""

from __future__ import annotations

import asyncio

import pytest

from pegboard.model.call_errors import Misconfigured, ToolError, Unavailable
from pegboard.sandbox import kernel_features as module
from pegboard.sandbox.kernel_features import KernelFeatureCheck, KernelFeatures
from pegboard.sandbox.sandbox import EnvironmentSpec
from tests.unit.sandbox.confined_tools import command, later, make_sandbox

ALL = KernelFeatures(7, True, True, True)
SOME = KernelFeatures(0, False, True, True, {"landlock": "the kernel has none", "namespaces": "not allowed"})
BUSY = KernelFeatures(0, False, False, False, {}, "the probe process did not end within 10 s")


class Trials:
    """Replaces the probe: each run has another outcome."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *ends: KernelFeatures | Exception) -> None:
        self.ends = list(ends)
        monkeypatch.setattr(module, "detect_kernel_features", self.detect)

    async def detect(self) -> KernelFeatures:
        end = self.ends.pop(0)
        if isinstance(end, Exception):
            raise end
        return end


async def refusal(trial: KernelFeatureCheck) -> ToolError:
    with pytest.raises((Misconfigured, Unavailable)) as refused:
        await trial.check(later())
    assert refused.value.did_run is False
    return refused.value


async def test_what_is_there_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    trials = Trials(monkeypatch, ALL)
    trial = KernelFeatureCheck(())
    await asyncio.gather(*(trial.check(later()) for _ in range(5)))
    await trial.check(later())
    assert trials.ends == []


async def test_what_is_missing_is_reported_with_the_way_out_and_tried_again_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trials = Trials(monkeypatch, SOME, ALL)
    trial = KernelFeatureCheck((), retry_seconds=3600)
    refusals = await asyncio.gather(*(refusal(trial) for _ in range(5)))
    for refused in refusals:
        assert isinstance(refused, Misconfigured)
        assert "PEGBOARD_SANDBOX_WITHOUT" in refused.message
        assert "the kernel has none" in refused.message
    await refusal(trial)
    assert trials.ends == [ALL]
    Trials(monkeypatch, SOME, ALL)
    trial = KernelFeatureCheck((), retry_seconds=0)
    await refusal(trial)
    await trial.check(later())


async def test_a_machine_too_busy_to_try_is_no_reason_to_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    Trials(monkeypatch, BUSY, BUSY, ALL)
    trial = KernelFeatureCheck(())
    for _ in range(2):
        refused = await refusal(trial)
        assert isinstance(refused, Unavailable)
        assert "did not end within 10 s; try again" in refused.message
        assert "PEGBOARD_SANDBOX_WITHOUT" not in refused.message
    await trial.check(later())


async def test_a_trial_that_failed_is_not_held_against_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    Trials(monkeypatch, RuntimeError("no idea"), ALL)
    trial = KernelFeatureCheck(())
    with pytest.raises(RuntimeError, match="no idea"):
        await trial.check(later())
    await trial.check(later())


async def test_no_caller_waits_for_a_trial_beyond_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = asyncio.Event()

    async def slow() -> KernelFeatures:
        await go_on.wait()
        return ALL

    monkeypatch.setattr(module, "detect_kernel_features", slow)
    trial = KernelFeatureCheck(())
    with pytest.raises(Unavailable, match="still being probed at the deadline") as refused:
        await trial.check(later(0.01))
    assert refused.value.did_run is False
    go_on.set()
    await trial.check(later())


async def test_calls_and_warming_are_refused_where_calls_cannot_be_confined(monkeypatch: pytest.MonkeyPatch) -> None:
    Trials(monkeypatch, SOME)
    box = make_sandbox()
    with pytest.raises(Misconfigured, match="cannot confine tools"):
        await box.run(command("true"), "ann", later())
    await box.warm(EnvironmentSpec())
    assert not box.stats().zygotes
    await box.close()
