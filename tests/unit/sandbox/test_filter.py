"""The filters as programs, for all architectures: evaluated here, not by the kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegboard.sandbox.child.seccomp_filter import (
    ALLOW,
    KILL,
    REFUSE,
    UNKNOWN,
    Check,
    Rule,
    branch_by_range,
    branch_if_all,
    build_filter,
    build_return,
    build_rules,
    load_word,
    pack_program,
)
from pegboard.sandbox.child.syscall_numbers import SYSCALL_NUMBERS
from tests.unit.sandbox.filter_machine import run_filter

X86_64, I386, AARCH64, ARM = 0xC000003E, 0x40000003, 0xC00000B7, 0x40000028
MACHINES = {"x86_64": X86_64, "aarch64": AARCH64}
# An x86_64 machine has the headers of both; the generic ones are those of aarch64.
HEADERS = {
    "x86_64": ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"),
    "aarch64": ("/usr/include/asm-generic/unistd.h",),
}

PROGRAMS = {(name, network): build_filter(name, network=network) for name in MACHINES for network in (False, True)}
each_program = pytest.mark.parametrize(("name", "network"), PROGRAMS)


@pytest.mark.parametrize("name", MACHINES)
def test_the_table_of_calls_is_that_of_the_kernels_headers(name: str) -> None:
    header = next((path for path in map(Path, HEADERS[name]) if path.exists()), None)
    if header is None:
        pytest.skip("the kernel's headers are not installed")
    found = {
        call: int(number)
        for call, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)\s", header.read_text())
        # Some numbers are reserved for 32-bit architectures, some for a single one.
        if not (name == "aarch64" and (244 <= int(number) <= 259 or 403 <= int(number) <= 423))
    }
    newest = found.pop("syscalls", max(found.values()) + 1) - 1
    # The header's other name for this system call on 64-bit machines.
    if name == "aarch64":
        found.pop("sync_file_range2", None)
        found["newfstatat"] = found.pop("fstatat")
    known = SYSCALL_NUMBERS[name]
    later = {"uretprobe", "uprobe"} - found.keys()
    assert {call: number for call, number in known.items() if number <= newest and call not in later} == {
        call: number for call, number in found.items() if number <= max(known.values())
    }


@pytest.mark.parametrize("name", MACHINES)
def test_no_two_calls_have_the_same_number(name: str) -> None:
    assert len(set(SYSCALL_NUMBERS[name].values())) == len(SYSCALL_NUMBERS[name])


def test_every_call_in_the_rules_exists_somewhere() -> None:
    known = SYSCALL_NUMBERS["x86_64"].keys() | SYSCALL_NUMBERS["aarch64"].keys()
    assert set(build_rules(network=True)) | set(build_rules(network=False)) <= known


@each_program
def test_every_known_call_gets_the_answer_of_its_rule(name: str, network: bool) -> None:
    answers = build_rules(network=network)
    for call, number in SYSCALL_NUMBERS[name].items():
        answer = answers.get(call, ALLOW)
        if not isinstance(answer, Rule):
            assert run_filter(PROGRAMS[name, network], MACHINES[name], number) == answer, call


@each_program
def test_a_call_of_a_later_kernel_does_not_exist(name: str, network: bool) -> None:
    unknown = set(range(600)) - set(SYSCALL_NUMBERS[name].values()) | {2**30 - 1}
    answers = {number: run_filter(PROGRAMS[name, network], MACHINES[name], number) for number in unknown}
    assert set(answers.values()) == {UNKNOWN}


@each_program
def test_a_call_of_another_architecture_kills(name: str, network: bool) -> None:
    for other in {X86_64, I386, AARCH64, ARM} - {MACHINES[name]}:
        assert {run_filter(PROGRAMS[name, network], other, number) for number in (0, 1, 39, 317, 500)} == {KILL}


@given(number=st.integers(2**30, 2**32 - 1), network=st.booleans())
def test_the_calls_with_short_pointers_kill(number: int, network: bool) -> None:
    assert run_filter(PROGRAMS["x86_64", network], X86_64, number) == KILL


@each_program
def test_a_filter_is_one_that_the_kernel_takes(name: str, network: bool) -> None:
    program = PROGRAMS[name, network]
    assert len(program) <= 4096
    assert len(pack_program(program)) == 8 * len(program)
    assert all(0 <= step.held < 256 and 0 <= step.failed < 256 and 0 <= step.operand < 2**32 for step in program)


@given(
    call=st.sampled_from(sorted(SYSCALL_NUMBERS["x86_64"].keys() & SYSCALL_NUMBERS["aarch64"].keys())),
    arguments=st.lists(st.one_of(st.integers(0, 64), st.integers(0, 2**64 - 1)), max_size=6),
    network=st.booleans(),
)
def test_the_same_call_is_judged_alike_on_all_machines(call: str, arguments: list[int], network: bool) -> None:
    one, other = (
        run_filter(PROGRAMS[name, network], MACHINES[name], SYSCALL_NUMBERS[name][call], arguments) for name in MACHINES
    )
    assert one == other


@given(high=st.integers(0, 2**32 - 1), low=st.integers(0, 2**32 - 1), network=st.booleans())
def test_the_unused_half_of_an_argument_changes_nothing(high: int, low: int, network: bool) -> None:
    wide = high << 32 | low
    for call, place in (("clone", 0), ("personality", 0), ("ioctl", 1), ("socketpair", 0), ("prlimit64", 0)):
        short, long = ([1] * place + [value, 1] for value in (low, wide))
        program, number = PROGRAMS["x86_64", network], SYSCALL_NUMBERS["x86_64"][call]
        assert run_filter(program, X86_64, number, short) == run_filter(program, X86_64, number, long)


@given(address=st.integers(1, 2**64 - 1))
def test_no_address_can_be_sent_to_wherever_it_lies_in_memory(address: int) -> None:
    for network in (False, True):
        program, number = PROGRAMS["x86_64", network], SYSCALL_NUMBERS["x86_64"]["sendto"]
        assert run_filter(program, X86_64, number, [3, 0, 0, 0, address]) == REFUSE


@given(st.sets(st.integers(1, 2**32 - 1), max_size=600), st.integers(0, 2**32 - 1))
@example(set(range(1, 2000)), 0)
@example(set(range(1, 2000)), 1500)
def test_halving_finds_the_range_a_number_is_in(starts: set[int], number: int) -> None:
    firsts = [0, *sorted(starts)]
    program = branch_by_range([(first, build_return(first)) for first in firsts])
    # The number is at the position of the architecture.
    assert run_filter((load_word(4), *program), number, 0) == max(first for first in firsts if first <= number)


@given(
    words=st.lists(st.integers(0, 7), min_size=6, max_size=6),
    wanted=st.lists(
        st.tuples(st.integers(0, 5), st.sets(st.integers(0, 7), min_size=1), st.integers(0, 7)), max_size=4
    ),
)
def test_all_checks_must_hold(words: list[int], wanted: list[tuple[int, set[int], int]]) -> None:
    checks = [Check(16 + 8 * place, tuple(values), mask) for place, values, mask in wanted]
    holds = all(words[place] & mask in values for place, values, mask in wanted)
    assert run_filter(branch_if_all(checks, build_return(1), build_return(0)), 0, 0, words) == holds
