"""Many concurrent callers, and the results they received, to compare with the journal."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
import httpx

from tests.crash.journal_contents import JournalRow
from tests.crash.server_processes import call, code_of, succeeded
from tests.waiting import until


@dataclass
class Log:
    """The results that the callers received."""

    # The run id of each call that was reported as successful, by its number.
    acknowledged: dict[str, str] = field(default_factory=dict)
    # Calls with a key that were reported as in doubt.
    doubted: set[str] = field(default_factory=set)
    sent: Counter[str] = field(default_factory=Counter)
    # Responses that must not occur.
    odd: list[str] = field(default_factory=list)


class ConcurrentCallers:
    """Callers who continue to call while their server is killed and restarted."""

    def __init__(self, client: httpx.AsyncClient, seed: int, log: Log | None = None) -> None:
        self.client = client
        self._seed = seed
        self.log = log or Log()
        self.is_over = False
        self.is_up = anyio.Event()

    def lose(self) -> None:
        """Record that the server was killed."""
        self.is_up = anyio.Event()

    async def answered(self, more: int) -> None:
        """Return after this many more calls were acknowledged."""
        enough = len(self.log.acknowledged) + more

        async def are_enough() -> bool:
            return len(self.log.acknowledged) >= enough

        await until(are_enough, 30)

    async def hold(self, n: str) -> None:
        """Make a call that runs until the server is killed."""
        self.log.sent["held"] += 1
        with suppress(httpx.TransportError):
            answer = await call(self.client, "note", n, gated=True)
            self.log.odd.append(f"{n}: {answer.status_code} {answer.text}")

    async def call_on(self, place: int) -> None:
        """Call until the end is set; repeat a call with a key until it is answered."""
        chance = random.Random(f"{self._seed} {place}")
        count = 0
        while not self.is_over:
            await self.is_up.wait()
            count += 1
            kind = chance.choice(("note", "note", "say", "key", "key"))
            n = f"{kind}-{place}-{count}"
            self.log.sent[kind] += 1
            if kind == "key":
                await self._until_answered(n, seconds=chance.choice((0.0, 0.01, 0.04)))
            elif kind == "note":
                await self._once("note", n, seconds=chance.choice((0.0, 0.01, 0.04)))
            else:
                await self._once("say", n)

    async def _once(self, tool: str, n: str, seconds: float = 0.0) -> None:
        try:
            answer = await call(self.client, tool, n, seconds=seconds)
        except httpx.TransportError:
            return
        if succeeded(answer):
            self.log.acknowledged[n] = answer.headers["x-execution-id"]
        elif answer.status_code != 503:
            self.log.odd.append(f"{n}: {answer.status_code} {answer.text}")

    async def _until_answered(self, n: str, seconds: float) -> None:
        while True:
            await self.is_up.wait()
            try:
                answer = await call(self.client, "note", n, key=n, seconds=seconds)
            except httpx.TransportError:
                await anyio.sleep(0.01)
                continue
            if succeeded(answer):
                self.log.acknowledged[n] = answer.headers["x-execution-id"]
                return
            if code_of(answer) == "in_doubt":
                self.log.doubted.add(n)
                return
            if answer.status_code != 503:
                self.log.odd.append(f"{n}: {answer.status_code} {answer.text}")
                return


class Received:
    """The journal beside the callers' log and the effects."""

    def __init__(self, rows: list[JournalRow], effects: list[tuple[str, str]], log: Log) -> None:
        self._rows = {row.id: row for row in rows}
        self._runs = Counter(row.n for row in rows if row.repeat_of is None and row.status != "refused")
        self._effects = effects
        self._log = log
        self.in_doubt = [row for row in rows if row.status == "in_doubt"]
        assert len(self._rows) == len(rows)

    @property
    def summary(self) -> dict[str, int]:
        """The numbers."""
        return {
            "sent": self._log.sent.total(),
            "acknowledged": len(self._log.acknowledged),
            "rows": len(self._rows),
            "effects": len(self._effects),
            "in_doubt": len(self.in_doubt),
            "keys_in_doubt": len(self._log.doubted),
            "lost": len(self._lost()),
            "doubled": len(self._doubled()),
        }

    def faults(self) -> list[str]:
        """The contradictions between journal, effects and callers."""
        rows, log = self._rows, self._log
        found = [f"lost: {one}" for one in self._lost()] + [f"doubled: {one}" for one in self._doubled()]
        for n, run_id in self._effects:
            row = rows.get(run_id)
            if row is None or row.status not in ("succeeded", "failed", "in_doubt") or row.n != n:
                found.append(f"took effect, and is recorded as {row}: {n} {run_id}")
            elif row.status != "in_doubt" and row.status != "succeeded":
                found.append(f"nothing failed here but the server: {row}")
        effects = Counter(n for n, _ in self._effects)
        found += [f"took effect {times} times: {n}" for n, times in effects.items() if times > 1]
        for n in log.acknowledged:
            if not n.startswith("say") and effects[n] != 1:
                found.append(f"acknowledged after {effects[n]} effects: {n}")
        acknowledged = set(log.acknowledged.values())
        found += [f"acknowledged, and in doubt: {row}" for row in self.in_doubt if row.id in acknowledged]
        doubted = {row.n for row in self.in_doubt}
        found += [f"told to be in doubt, and is not: {n}" for n in log.doubted if n not in doubted]
        return found

    def _lost(self) -> list[str]:
        lost = []
        for n, run_id in self._log.acknowledged.items():
            row = self._rows.get(run_id)
            first = row if row is None or row.repeat_of is None else self._rows.get(row.repeat_of)
            if row is None or first is None or (row.status, first.status, row.n) != ("succeeded", "succeeded", n):
                lost.append(f"{n} {run_id}: {row}, {first}")
        return lost

    def _doubled(self) -> list[str]:
        return [n for n, times in self._runs.items() if times > 1]
