"""Running code and commands confined: a place is waited for, a process started, and how it ended handed back."""

from __future__ import annotations

import asyncio
import json
import math
import posixpath
import socket
import time
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import orjson

from pegboard.core.admission import Admission
from pegboard.core.call import OnProgress
from pegboard.core.errors import ExecutionFailed, InternalError, Misconfigured, TimedOut, ToolError, Unavailable
from pegboard.egress.outbound import Outbound
from pegboard.sandbox import folders
from pegboard.sandbox.abilities import Abilities
from pegboard.sandbox.houses import House, plan
from pegboard.sandbox.limits import Limits
from pegboard.sandbox.line import LEAVING_SECONDS, Ended, Garbled, Line
from pegboard.sandbox.proxy import Proxy
from pegboard.sandbox.refusals import unavailable
from pegboard.sandbox.reports import reading
from pegboard.sandbox.trial import Trial
from pegboard.sandbox.zygote import Gone, Zygote
from pegboard.sandbox.zygotes import Zygotes
from pegboard.telemetry.logs import get_logger

__all__ = ["Ended", "House", "Job", "Sandbox"]

log = get_logger(__name__)

# A zygote that dies before a call has begun is replaced once.
_ATTEMPTS = 2
# What a call that has begun may take beyond its time, to be ended by who looks after it.
_ENDING_SECONDS = 5.0
# A zygote that has begun no call for so long, although it was asked to, is not asked again.
_SILENT_SECONDS = 5.0
_MOST_JOB = 64 * 2**20
# Where a call works that has a file system of its own.
_WORK_FOLDER = "/call"
# No timer is set for longer; loops differ in what they make of infinity.
_LONGEST_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Job:
    """What to run: `payload` is the part that depends on the kind (kind, env, code or argv, and what goes in).

    A `cwd` that is not absolute lies in the call's own work folder.
    """

    house: House
    payload: Mapping[str, Any]
    seconds: float
    result_bytes: int
    network: bool = False


class Sandbox:
    """Runs jobs in processes that can do no harm: so many at once, shared evenly between users."""

    def __init__(
        self,
        limits: Limits,
        *,
        children: int,
        zygotes: int,
        without: tuple[str, ...],
        masked: tuple[str, ...],
        outbound: Outbound,
    ) -> None:
        self._limits = asdict(limits)
        self._output = limits.output
        self._without = without
        self._trial = Trial(without)
        self._admission = Admission(children, setting="PEGBOARD_SANDBOX_CHILDREN")
        self._zygotes = Zygotes(partial(plan, masked=masked, without=without), most=zygotes)
        self._proxy = Proxy(outbound)
        self._lines: set[Line] = set()
        # Calls that have a place and have not ended; the place is held for a moment longer.
        self._under_way = 0
        # Ends of proxies and of folders, which nobody waits for but close().
        self._chores: set[asyncio.Task[None]] = set()
        self._closed = False

    async def run(self, job: Job, user_id: str, deadline: float, on_progress: OnProgress | None = None) -> Ended:
        """How the job ended, run for this user within what is left until `deadline` (of time.monotonic).

        Whoever listens is told what the call reports while it runs, and nothing once this has returned or raised.
        Raises Unavailable where there was no place or no process for it by then, Misconfigured where it cannot run on
        this board, and ExecutionFailed where its process went without a word.
        """
        came = time.monotonic()
        await self._check(deadline)
        if job.network and "namespaces" in self._without:
            raise Misconfigured(
                "A tool with network: true needs namespaces of its own, and this board runs tools without them "
                "(PEGBOARD_SANDBOX_WITHOUT)"
            )
        self._zygotes.check(job.house)
        place = await self._admission.enter(user_id, deadline)
        line: Line | None = None
        self._under_way += 1
        try:
            for _ in range(_ATTEMPTS):
                zygote = None
                with suppress(Gone):
                    zygote = await self._zygote(job.house, user_id, deadline)
                    line = await self._begin(zygote, job, deadline, on_progress)
                    waited = time.monotonic() - came
                    ended = await self._converse(line, zygote, job, user_id, deadline)
                    if ended is not None:
                        return ended._replace(waited=waited)
                if zygote is not None:
                    # That it is dead may not have been told yet.
                    self._zygotes.drop(zygote)
            raise unavailable("The process that starts confined calls was ended, or hung, twice; try again")
        finally:
            self._under_way -= 1
            if line is None:
                place.leave()
            else:
                line.when_gone(place.leave)

    async def abilities(self) -> Abilities:
        """What this machine's kernel can do to confine calls; tried out once, and again where something was missing."""
        return await self._trial.abilities()

    async def warm(self, house: House) -> None:
        """Begin to make ready what calls of this house need; what goes wrong is logged, and said when one is run."""
        try:
            await self._check(math.inf)
            self._zygotes.warm(house)
        except ToolError as error:
            log.warning("sandbox_not_warm", why=error.message)

    async def close(self) -> None:
        """End every call and process; it takes a few seconds at most."""
        self._closed = True
        self._admission.close()
        for line in list(self._lines):
            line.hang_up()
        ends: list[asyncio.Future[Any]] = [_gone(line) for line in self._lines]
        if ends:
            await asyncio.wait(ends, timeout=LEAVING_SECONDS + 1)
        await self._trial.close(LEAVING_SECONDS + 1)
        await self._zygotes.close()
        if self._chores:
            await asyncio.wait(self._chores, timeout=LEAVING_SECONDS)

    async def _check(self, deadline: float) -> None:
        if self._closed:
            raise unavailable("No confined call is started any more: the board is shutting down")
        await self._trial.check(deadline)

    async def _zygote(self, house: House, user_id: str, deadline: float) -> Zygote:
        zygote = self._zygotes.at_hand(house, user_id)
        if zygote is not None:
            return zygote
        try:
            async with asyncio.timeout(min(deadline - time.monotonic(), _LONGEST_SECONDS)):
                return await self._zygotes.of(house, user_id)
        except TimeoutError:
            raise unavailable("The libraries of this tool were not loaded by the call's deadline; try again") from None

    async def _begin(self, zygote: Zygote, job: Job, deadline: float, on_progress: OnProgress | None) -> Line:
        """The line of a call that the zygote was told to start."""
        seconds = min(job.seconds, deadline - time.monotonic())
        if seconds <= 0:
            raise unavailable("The call's deadline passed before it could be started; try again")
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise unavailable(f"The call could not be started: {error.strerror}") from None
        # Whatever happens to the call, closing this end of ours leaves the zygote's the only one.
        with theirs:
            on_reports = reading(on_progress) if on_progress is not None else None
            line = Line(ours, most=job.result_bytes + 2 * self._output, network=job.network, on_reports=on_reports)
            self._lines.add(line)
            line.when_gone(lambda: self._lines.discard(line))
            try:
                line.send(self._told(job, seconds, self._folder(line), reports=on_progress is not None))
                await zygote.begin(theirs, network=job.network, crowded=self._under_way > 1)
            except BaseException:
                line.hang_up()
                raise
        line.when_gone(zygote.call_over)
        return line

    def _folder(self, line: Line) -> str | None:
        """A folder for the call to work in, removed when it is over; None where it has a file system of its own."""
        if "namespaces" not in self._without:
            return None
        try:
            folder = folders.make()
        except OSError as error:
            raise unavailable(f"No work folder can be made for the call: {error.strerror}") from None
        line.when_gone(lambda: self._later(asyncio.to_thread(folders.remove, folder)))
        return folder

    async def _converse(self, line: Line, zygote: Zygote, job: Job, user_id: str, deadline: float) -> Ended | None:
        """How the call ended; None where it surely has not begun, and can be begun anew."""
        serving, ended = None, None
        try:
            if job.network:
                await _come(line.listens, zygote, deadline)
                if (listener := line.listener()) is not None:
                    serving = self._proxy.serve(listener, user_id)
                    line.send(b"l")
            await _come(line.begins, zygote, deadline)
            zygote.call_begun()
            async with asyncio.timeout(job.seconds + _ENDING_SECONDS):
                ended = await line.ended()
        except TimeoutError:
            self._too_late(line, zygote, deadline)
        except Garbled as error:
            log.error("sandbox_answer_garbled", why=str(error))  # noqa: TRY400 -- this says it all
            raise InternalError from None
        finally:
            line.hang_up()
            if serving is not None:
                self._later(serving.close())
        if ended is not None:
            if ended.fate == "setup":
                raise Misconfigured(f"The call could not be confined, so it did not run: {ended.message}")
            return ended
        if self._closed:
            refusal = Unavailable("The call was ended: the board is shutting down")
            refusal.did_run = line.started
            raise refusal
        if line.started:
            raise ExecutionFailed("The tool's process was ended from outside before it could say how the call went")
        return None

    def _too_late(self, line: Line, zygote: Zygote, deadline: float) -> None:
        """Give the call up; raises what is to be said of it, unless it has not begun and there is time to do so."""
        # Only then, as it cannot begin any more, is it known whether it has.
        line.hang_up()
        if line.started:
            raise TimedOut("The call did not end in its time, nor when it was told to") from None
        if time.monotonic() >= deadline:
            if time.monotonic() - zygote.silent_since >= _SILENT_SECONDS:
                self._zygotes.drop(zygote)
            raise unavailable("The call was not begun by its deadline; try again") from None

    def _told(self, job: Job, seconds: float, folder: str | None, *, reports: bool = False) -> bytes:
        told = {
            **job.payload,
            "seconds": seconds,
            "limits": {**self._limits, "result": job.result_bytes},
            "network": job.network,
            "reports": reports,
            "folder": folder,
        }
        if "cwd" in told:
            told["cwd"] = posixpath.normpath(posixpath.join(folder or _WORK_FOLDER, told["cwd"]))
        # On a line of their own: who looks after the call passes them on unread.
        arguments = told.pop("arguments", {})
        text = _json(told) + b"\n" + _json(arguments)
        if len(text) > _MOST_JOB:
            raise Misconfigured(f"The call and its code take {len(text)} bytes, of at most {_MOST_JOB}")
        return len(text).to_bytes(4, "big") + text

    def _later(self, chore: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(chore)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        # Integers beyond 64 bits, and halves of surrogate pairs.
        return json.dumps(value).encode()


async def _come(news: asyncio.Future[None], zygote: Zygote, deadline: float) -> None:
    """Wait for news of a call that is to begin; raises TimeoutError at the deadline, or where its zygote hangs."""
    since = time.monotonic()
    while not news.done():
        left = min(deadline, max(since, zygote.silent_since) + _SILENT_SECONDS) - time.monotonic()
        if left <= 0:
            raise TimeoutError
        await asyncio.wait((news,), timeout=left)


def _gone(line: Line) -> asyncio.Future[None]:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    line.when_gone(lambda: None if future.done() else future.set_result(None))
    return future
