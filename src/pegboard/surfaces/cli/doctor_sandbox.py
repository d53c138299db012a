"""Checks of what python and shell tools run in: the kernel's abilities to confine them, and their libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pegboard.sandbox.abilities import Abilities, detect
from pegboard.sandbox.libraries import Libraries
from pegboard.sandbox.limits import ABILITIES
from pegboard.settings import words
from pegboard.surfaces.cli.findings import Finding

if TYPE_CHECKING:
    from pegboard.settings import Settings

_HERE = {
    "landlock": "version {}: tools see only the files that they may",
    "namespaces": "tools have a file system, processes and a network of their own",
    "seccomp": "tools have only the system calls that they need",
}


async def examine_sandbox(settings: Settings) -> list[Finding]:
    """How tools are confined on this machine, as far as the user who asks may, and what their code may use."""
    confining = judge_abilities(await detect(), words(settings.sandbox_without))
    return [*confining, judge_libraries(words(settings.python_libraries))]


def judge_abilities(found: Abilities, without: tuple[str, ...]) -> list[Finding]:
    """What each ability that was found, or was not, means for a board that is set to run tools without some."""
    findings = [_ability(name, found, without) for name in ABILITIES]
    if found.namespaces and not found.proc and "namespaces" not in without:
        why = found.reasons.get("proc", "the kernel refuses")
        advice = (
            "PEGBOARD_SANDBOX_MEMORY holds for each process of a call, not for all together. Docker shows /proc whole "
            "with --security-opt systempaths=unconfined"
        )
        findings.append(Finding.warning("sandbox proc", f"calls have no /proc of their own: {why}", advice))
    return findings


def judge_libraries(allowed: tuple[str, ...]) -> Finding:
    """Which of the libraries that python tools may use there are."""
    libraries = Libraries(allowed)
    missing = libraries.missing(libraries.allowed)
    installed = [name for name in libraries.allowed if name not in missing]
    text = f"installed: {', '.join(installed) or 'none'}"
    return Finding.ok("python libraries", f"{text}; not installed: {', '.join(missing)}" if missing else text)


def _ability(name: str, found: Abilities, without: tuple[str, ...]) -> Finding:
    check = f"sandbox {name}"
    version = getattr(found, name)
    way_out = " ".join(found.missing([other for other in ABILITIES if other != name]))
    if name in without:
        here = "the kernel has it" if version else "the kernel does not grant it"
        advice = way_out or "Confine them with it again: take it out of PEGBOARD_SANDBOX_WITHOUT"
        return Finding.warning(check, f"PEGBOARD_SANDBOX_WITHOUT lets tools run without; {here}", advice)
    if not version:
        return Finding.bad(check, "missing, so python and shell tools are refused", way_out)
    return Finding.ok(check, _HERE[name].format(version))
