"""What is signed of the writers: both ends of each one's chain, and how many of them there have been."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pegboard.journal.chain import Chain, Place
from pegboard.journal.findings import Finding
from pegboard.store.writers import Writer


class Ends(NamedTuple):
    """Both ends of a writer's chain as far as they are signed; `head` is None where it is not."""

    head: Place | None
    pruned: Place
    findings: tuple[Finding, ...]


def ends_of(chain: Chain, writer: Writer) -> Ends:
    """The ends of a writer's chain; where the prune marker is not signed, nothing counts as pruned."""
    number = writer.number
    head = signed(chain, chain.sign_head, number, (writer.seq, writer.mac), writer.signature)
    marker = (writer.pruned_seq, writer.pruned_mac)
    pruned = marked(chain, number, marker, writer.pruned_signature)
    findings = []
    if pruned is None:
        findings.append(marker_forged(number, writer.pruned_seq))
    if head is None:
        findings.append(head_forged(number, writer.seq))
    elif pruned is not None and head.seq < pruned.seq:
        message = (
            f"The signed head of writer {number}, row {head.seq}, lies before its prune marker, row {pruned.seq}: the"
            " head was put back"
        )
        findings.append(Finding("head_forged", message, number, last=head.seq))
        head = None
    return Ends(head, pruned or Place(), tuple(findings))


def marker_forged(number: int, seq: object) -> Finding:
    """A prune marker is not the board's."""
    message = f"The prune marker of writer {number}, row {seq}, is not signed by this board, and counts for nothing"
    return Finding("marker_forged", message, number, last=_number(seq))


def head_forged(number: int, seq: object) -> Finding:
    """A head is not the board's."""
    message = f"The head of writer {number}, row {seq}, is not signed by this board: where its chain ends is not known"
    return Finding("head_forged", message, number, last=_number(seq))


def marked(chain: Chain, number: int, claimed: tuple[object, object], signature: object) -> Place | None:
    """The place that a prune marker speaks for; one that speaks for none of the rows needs no signature."""
    if (*claimed, signature) == (*Place(), ""):
        return Place()
    return signed(chain, chain.sign_pruned, number, claimed, signature)


def signed(
    chain: Chain, sign: Callable[[int, Place], str], number: int, claimed: tuple[object, object], signature: object
) -> Place | None:
    """The place that a writer's signature speaks for; None if it does not."""
    seq, mac = claimed
    if type(seq) is not int or not isinstance(mac, str) or not isinstance(signature, str):
        return None
    place = Place(seq, mac)
    try:
        return place if chain.same(sign(number, place), signature) else None
    except (TypeError, UnicodeEncodeError):
        return None


def merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges of numbers in order, those that touch made one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def count_findings(chain: Chain, count: object, signature: object, there: Sequence[tuple[int, int]]) -> list[Finding]:
    """What is wrong with the writers as a whole: some missing, some too many, or their number not signed."""
    findings = []
    last = there[-1][1] if there else 0
    if is_count_signed(chain, count, signature, has_writers=bool(there)):
        assert type(count) is int
        last = count
    else:
        message = (
            f"The number of writers, {count}, is not signed by this board: whether there were more after writer {last}"
            " is not known"
        )
        findings.append(Finding("count_forged", message))
    seen = 0
    for first, end in [*there, (last + 1, last + 1)]:
        if min(first, last + 1) > seen + 1:
            findings.append(missing_writers(seen + 1, min(first, last + 1) - 1))
        seen = max(seen, min(end, last + 1))
    for first, end in there:
        if first < 1 or end > last:
            number = first if first < 1 else max(first, last + 1)
            message = (
                f"Writer {number} is not one of the {last} that there have been: their signed number was put back, or"
                " the writer was put there"
            )
            findings.append(Finding("writer_unknown", message, number))
    return findings


def missing_writers(first: int, last: int) -> Finding:
    """Writers that there have been are gone."""
    who = f"Writer {first} is" if first == last else f"Writers {first} to {last} are"
    return Finding("writer_missing", f"{who} missing, and what is signed of {'it' if first == last else 'them'}", first)


def is_count_signed(chain: Chain, count: object, signature: object, *, has_writers: bool) -> bool:
    """Whether this board signed the number of writers; before the first writer there is no signature."""
    if (count, signature) == (0, "") and not has_writers:
        return True
    if type(count) is not int or not isinstance(signature, str):
        return False
    try:
        return chain.same(chain.sign_writers(count), signature)
    except (TypeError, UnicodeEncodeError):
        return False


def _number(value: object) -> int | None:
    return value if type(value) is int else None
