"""Verification of a journal that was pruned, or is written and pruned at the same time."""

from __future__ import annotations

from pegboard.journal.verify import ChainVerifier, Position, Scope, VerificationReport
from pegboard.storage.database import Database
from tests.unit.journal.audit_pages import received, verified
from tests.unit.journal.chained_journals import CHAIN, add_writer, append, call, journal, prune_by_hand, run


async def test_a_pruned_journal_is_clean_and_says_so(database: Database) -> None:
    await add_writer(database, 1)
    places = await append(database, 1, [call(place) for place in range(6)])
    await prune_by_hand(database, places[3])
    assert await verified(database) == VerificationReport(2, notes=("4 rows pruned",), total=2)
    await prune_by_hand(database, places[5])
    assert await verified(database) == VerificationReport(0, notes=("6 rows pruned",), total=0)


async def test_a_row_that_returned_after_it_was_pruned_is_found(database: Database) -> None:
    await add_writer(database, 1)
    rows = [call(place) for place in range(6)]
    places = await append(database, 1, rows)
    await prune_by_hand(database, places[3])
    head = places[5]
    await append(database, 1, rows[3:4], places[2])
    await run(database, "UPDATE writers SET seq = 6, mac = :m, signature = :g", m=head.mac, g=CHAIN.sign_head(1, head))
    assert received(await verified(database)) == [
        f"1 row of writer 1 outside of its chain, which begins after row 4: execution {rows[3].id}"
    ]


async def test_writing_while_it_is_checked_is_no_finding(database: Database) -> None:
    await journal(database, 5, 1)
    verifier = ChainVerifier(database, CHAIN)
    position: Position | None = None
    checked = 0
    for step in range(30):
        report = await verifier.verify(Scope(), position, 2)
        assert report.findings == ()
        checked += report.checked
        position = report.next
        if position is None:
            break
        if step < 4:
            await append(database, 1 + step % 2, [call(step)])
        if step == 2:
            await add_writer(database, 3)
    assert position is None
    assert checked == 10


async def test_pruning_while_it_is_checked_is_no_finding(database: Database) -> None:
    await add_writer(database, 1)
    places = await append(database, 1, [call(place) for place in range(9)])
    verifier = ChainVerifier(database, CHAIN)
    first = await verifier.verify(Scope(), None, 2)
    await prune_by_hand(database, places[4])
    second = await verifier.verify(Scope(), first.next, 20)
    assert (first.findings, second.findings, second.next) == ((), (), None)
    assert first.checked + second.checked == 6
