"""Checks the signatures of writers: both ends of each hash chain, and the number of writers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pegboard.journal.hash_chain import ChainPosition, HashChain
from pegboard.journal.tamper_report import TamperFinding
from pegboard.storage.journal_chain_rows import WriterRow


class ChainEnds(NamedTuple):
    """Both ends of a writer's chain if they are correctly signed; `head` is None if it is not."""

    head: ChainPosition | None
    pruned: ChainPosition
    findings: tuple[TamperFinding, ...]


def read_chain_ends(chain: HashChain, writer: WriterRow) -> ChainEnds:
    """Return the ends of a writer's chain; if the prune marker is not correctly signed, no row counts as pruned."""
    number = writer.number
    head = check_signature(chain, chain.sign_head, number, (writer.seq, writer.mac), writer.signature)
    marker = (writer.pruned_seq, writer.pruned_mac)
    pruned = check_prune_marker(chain, number, marker, writer.pruned_signature)
    findings = []
    if pruned is None:
        findings.append(build_marker_forged(number, writer.pruned_seq))
    if head is None:
        findings.append(build_head_forged(number, writer.seq))
    elif pruned is not None and head.seq < pruned.seq:
        message = (
            f"The signed head of writer {number}, row {head.seq}, lies before its prune marker, row {pruned.seq}: the"
            " head was put back"
        )
        findings.append(TamperFinding("head_forged", message, number, last=head.seq))
        head = None
    return ChainEnds(head, pruned or ChainPosition(), tuple(findings))


def build_marker_forged(number: int, seq: object) -> TamperFinding:
    """Return the finding for a prune marker that this board did not sign."""
    message = f"The prune marker of writer {number}, row {seq}, is not signed by this board, and counts for nothing"
    return TamperFinding("marker_forged", message, number, last=_read_integer(seq))


def build_head_forged(number: int, seq: object) -> TamperFinding:
    """Return the finding for a head that this board did not sign."""
    message = f"The head of writer {number}, row {seq}, is not signed by this board: where its chain ends is not known"
    return TamperFinding("head_forged", message, number, last=_read_integer(seq))


def check_prune_marker(
    chain: HashChain, number: int, claimed: tuple[object, object], signature: object
) -> ChainPosition | None:
    """Return the position of a prune marker, or None if its signature is invalid; an empty marker needs none."""
    if (*claimed, signature) == (*ChainPosition(), ""):
        return ChainPosition()
    return check_signature(chain, chain.sign_pruned, number, claimed, signature)


def check_signature(
    chain: HashChain,
    sign: Callable[[int, ChainPosition], str],
    number: int,
    claimed: tuple[object, object],
    signature: object,
) -> ChainPosition | None:
    """Return the position that a writer's signature covers, or None if the signature is invalid."""
    seq, mac = claimed
    if type(seq) is not int or not isinstance(mac, str) or not isinstance(signature, str):
        return None
    place = ChainPosition(seq, mac)
    try:
        return place if chain.is_same_mac(sign(number, place), signature) else None
    except (TypeError, UnicodeEncodeError):
        return None


def merge_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the ranges in order, with adjacent and overlapping ones merged."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def check_writer_count(
    chain: HashChain, count: object, signature: object, there: Sequence[tuple[int, int]]
) -> list[TamperFinding]:
    """Return the findings about the set of writers: missing ones, unknown ones, or an unsigned count."""
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
        findings.append(TamperFinding("count_forged", message))
    seen = 0
    for first, end in [*there, (last + 1, last + 1)]:
        if min(first, last + 1) > seen + 1:
            findings.append(build_missing_writers(seen + 1, min(first, last + 1) - 1))
        seen = max(seen, min(end, last + 1))
    for first, end in there:
        if first < 1 or end > last:
            number = first if first < 1 else max(first, last + 1)
            message = (
                f"Writer {number} is not one of the {last} that there have been: their signed number was put back, or"
                " the writer was put there"
            )
            findings.append(TamperFinding("writer_unknown", message, number))
    return findings


def build_missing_writers(first: int, last: int) -> TamperFinding:
    """Return the finding for writers that are missing."""
    who = f"Writer {first} is" if first == last else f"Writers {first} to {last} are"
    return TamperFinding(
        "writer_missing", f"{who} missing, and what is signed of {'it' if first == last else 'them'}", first
    )


def is_count_signed(chain: HashChain, count: object, signature: object, *, has_writers: bool) -> bool:
    """True if this board signed the number of writers; before the first writer there is no signature."""
    if (count, signature) == (0, "") and not has_writers:
        return True
    if type(count) is not int or not isinstance(signature, str):
        return False
    try:
        return chain.is_same_mac(chain.sign_writers(count), signature)
    except (TypeError, UnicodeEncodeError):
        return False


def _read_integer(value: object) -> int | None:
    return value if type(value) is int else None
