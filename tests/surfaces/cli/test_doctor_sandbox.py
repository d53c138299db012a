"""The findings of `pegboard doctor` about the sandbox."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from pegboard.maintenance import CheckResult, check_abilities, check_libraries
from pegboard.sandbox.kernel_features import KernelFeatures
from pegboard.sandbox.limits import KERNEL_FEATURES
from tests.fork_server import forked_command
from tests.surfaces.cli.run_program import SECONDS, Outcome, Program

ALL = KernelFeatures(4, True, True, True)
NONE = KernelFeatures(0, False, False, False, {name: f"no {name} for you" for name in (*KERNEL_FEATURES, "proc")})
CHECKS = [f"sandbox {name}" for name in KERNEL_FEATURES]


@pytest.fixture
def fresh(tmp_path: Path) -> Program:
    """The program on a machine that has no board yet."""
    return Program({"PEGBOARD_HOME": str(tmp_path / "home")})


def read_findings(ran: Outcome) -> dict[str, CheckResult]:
    return {each["check"]: CheckResult(**each) for each in ran.json["findings"]}


def by_check(findings: list[CheckResult]) -> dict[str, CheckResult]:
    return {finding.check: finding for finding in findings}


def test_it_tries_out_what_this_machine_can_do(fresh: Program) -> None:
    findings = read_findings(fresh.start("doctor", "--local", "--json"))
    assert {findings[check].level for check in CHECKS} == {"ok"}
    assert findings["sandbox landlock"].message.startswith("version ")
    assert "numpy, pandas" in findings["python libraries"].message


def test_what_the_board_may_run_without_is_a_warning_although_it_is_here(fresh: Program) -> None:
    ran = fresh.run("doctor", "--local", "--json", PEGBOARD_SANDBOX_WITHOUT="seccomp, landlock")
    findings = read_findings(ran)
    levels = {check: findings[check].level for check in CHECKS}
    assert levels == {"sandbox landlock": "warning", "sandbox namespaces": "ok", "sandbox seccomp": "warning"}
    assert "remove it from PEGBOARD_SANDBOX_WITHOUT" in str(findings["sandbox seccomp"].advice)


def test_a_word_that_is_no_ability_is_reported_with_those_there_are(fresh: Program) -> None:
    ran = fresh.run("doctor", "--local", PEGBOARD_SANDBOX_WITHOUT="seccomp,apparmor")
    assert ran.code == 1
    assert "'apparmor' is not a kernel feature of the sandbox; there are: landlock, namespaces, seccomp" in ran.out


def test_each_ability_that_is_missing_is_bad_with_its_own_way_out() -> None:
    findings = by_check(check_abilities(NONE, ()))
    assert list(findings) == CHECKS
    for name in KERNEL_FEATURES:
        finding = findings[f"sandbox {name}"]
        assert finding.level == "bad"
        assert finding.advice is not None
        assert f"no {name} for you" in finding.advice
        assert f"add '{name}' to PEGBOARD_SANDBOX_WITHOUT" in finding.advice
        assert not any(f"no {other} for you" in finding.advice for other in KERNEL_FEATURES if other != name)


def test_one_that_is_missing_and_done_without_is_a_warning_that_says_how_to_get_it() -> None:
    finding = by_check(check_abilities(NONE, ("namespaces",)))["sandbox namespaces"]
    assert finding.level == "warning"
    assert "does not support it" in finding.message
    assert "user.max_user_namespaces" in str(finding.advice)


def test_calls_without_their_own_proc_are_a_warning_if_they_could_have_one() -> None:
    hidden = KernelFeatures(4, True, True, False, {"proc": "parts are hidden"})
    assert by_check(check_abilities(hidden, ()))["sandbox proc"].level == "warning"
    assert "parts are hidden" in by_check(check_abilities(hidden, ()))["sandbox proc"].message
    for abilities, without in ((ALL, ()), (NONE, ()), (hidden, ("namespaces",))):
        assert "sandbox proc" not in by_check(check_abilities(abilities, without))


def test_libraries_are_distinguished_by_whether_they_are_installed() -> None:
    finding = check_libraries(("orjson", "no-such-library", "PyYAML"))
    assert finding.message == "installed: orjson, pyyaml; not installed: no-such-library"
    assert check_libraries(()).message == "installed: none"


def test_a_server_says_at_its_start_what_confines_tools(fresh: Program) -> None:
    command = forked_command("pegboard", "serve", "--port", "0")
    environment = fresh.full_environment(PEGBOARD_LOG_FORMAT="json", PEGBOARD_SANDBOX_WITHOUT="landlock")
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        next(line for line in server.stdout if "serving at " in line)
        server.terminate()
        _, logged = server.communicate(timeout=SECONDS)
    lines = [json.loads(line) for line in logged.splitlines()]
    (line,) = [line for line in lines if line["event"].startswith("sandbox_")]
    assert (line["event"], line["level"], line["without"]) == ("sandbox_without", "warning", ["landlock"])
    assert line["seccomp"] is True
