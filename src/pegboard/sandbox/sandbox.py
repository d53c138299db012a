"""Runs code and commands in confined processes: waits for a slot, starts a process, and returns how it ended."""

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

from pegboard.concurrency.fair_queue import FairQueue
from pegboard.http_client.guarded_client import GuardedClient
from pegboard.model.call import OnProgress
from pegboard.model.call_errors import ExecutionFailed, InternalError, Misconfigured, TimedOut, ToolError, Unavailable
from pegboard.sandbox import work_folder
from pegboard.sandbox.call_channel import CALL_EXIT_SECONDS, CallChannel, ConfinedResult, InvalidFrame
from pegboard.sandbox.child.job import WORK_FOLDER
from pegboard.sandbox.environment_spec import EnvironmentSpec, build_zygote_spec, identify_environment
from pegboard.sandbox.kernel_features import KernelFeatureCheck, KernelFeatures
from pegboard.sandbox.limits import SandboxLimits, make_unavailable, timeout_at
from pegboard.sandbox.progress_reports import make_report_reader
from pegboard.sandbox.proxy import Proxy
from pegboard.sandbox.zygote_pool import ZygotePool
from pegboard.sandbox.zygote_process import Zygote, ZygoteGone
from pegboard.telemetry.logs import get_logger

__all__ = ["ConfinedResult", "EnvironmentSpec", "Sandbox", "SandboxJob", "SandboxStats"]

log = get_logger(__name__)

# A call is retried once if its zygote dies before the call has started.
_MAX_ATTEMPTS = 2
# Time beyond its timeout that a started call gets, for its supervisor to end it.
END_GRACE_SECONDS = 5.0
# A zygote that was requested to start calls and has started none for this long is dropped.
ZYGOTE_SILENCE_SECONDS = 5.0
_MAX_JOB_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class SandboxJob:
    """What to run. `payload` depends on the kind: kind, env, code or argv, and the input.

    A `cwd` that is not absolute is relative to the work folder of the call.
    """

    environment: EnvironmentSpec
    payload: Mapping[str, Any]
    seconds: float
    result_bytes: int
    network: bool = False


@dataclass(frozen=True, slots=True)
class SandboxStats:
    """What a sandbox does now.

    `running` calls have a slot and `waiting` calls wait for one. `open` calls have a supervisor that has not exited,
    and `chores` close proxies and remove work folders of calls that have ended.
    """

    running: int
    waiting: int
    open: int
    chores: int
    zygotes: tuple[Zygote, ...]


class Sandbox:
    """Runs jobs in confined processes: a limited number at once, shared evenly between users."""

    def __init__(
        self,
        limits: SandboxLimits,
        *,
        children: int,
        zygotes: int,
        without: tuple[str, ...],
        masked: tuple[str, ...],
        outbound: GuardedClient,
    ) -> None:
        self._limits = asdict(limits)
        self._output = limits.output
        self._disabled_features = without
        self._feature_check = KernelFeatureCheck(without)
        self._admission = FairQueue(children, setting="PEGBOARD_SANDBOX_CHILDREN")
        self._zygotes = ZygotePool(partial(build_zygote_spec, masked=masked, without=without), most=zygotes)
        self._proxy = Proxy(outbound)
        self._channels: set[CallChannel] = set()
        # Tasks that close proxies and remove work folders; only close() waits for them.
        self._background_tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    async def run(
        self, job: SandboxJob, user_id: str, deadline: float, on_progress: OnProgress | None = None
    ) -> ConfinedResult:
        """Run the job for this user by `deadline` (of time.monotonic), and return how it ended.

        `on_progress` receives what the call reports while it runs, and nothing after this has returned or raised. Raise
        Unavailable if there was no slot or no process by the deadline, Misconfigured if the job cannot run on this
        board, and ExecutionFailed if its process exited without a result.
        """
        arrived = time.monotonic()
        await self._check(deadline)
        if job.network and "namespaces" in self._disabled_features:
            raise Misconfigured(
                "A tool with network: true needs namespaces of its own, and this board runs tools without them "
                "(PEGBOARD_SANDBOX_WITHOUT)"
            )
        identify_environment(job.environment)
        place = await self._admission.acquire(user_id, deadline)
        channel: CallChannel | None = None
        try:
            for _ in range(_MAX_ATTEMPTS):
                zygote = None
                with suppress(ZygoteGone):
                    zygote = await self._get_zygote(job.environment, user_id, deadline)
                    channel = await self._begin(zygote, job, deadline, on_progress)
                    waited = time.monotonic() - arrived
                    ended = await self._run_call(channel, zygote, job, user_id, deadline)
                    if ended is not None:
                        return ended._replace(waited=waited)
                if zygote is not None:
                    # The exit of the process may not have been reported yet.
                    self._zygotes.drop(zygote)
            raise make_unavailable("The process that starts confined calls was ended, or hung, twice; try again")
        finally:
            if channel is None:
                place.leave()
            else:
                channel.on_close(place.leave)

    async def abilities(self) -> KernelFeatures:
        """Return the kernel features of this machine; probed once, and again if a feature was missing."""
        return await self._feature_check.abilities()

    def stats(self) -> SandboxStats:
        """Return the current numbers of the sandbox."""
        return SandboxStats(
            running=self._admission.running,
            waiting=self._admission.waiting,
            open=len(self._channels),
            chores=len(self._background_tasks),
            zygotes=self._zygotes.zygotes,
        )

    async def warm(self, environment: EnvironmentSpec) -> None:
        """Start the zygote of this environment; an error is logged, and raised when a call runs."""
        try:
            await self._check(math.inf)
            self._zygotes.warm(environment)
        except ToolError as error:
            log.warning("sandbox_not_warm", why=error.message)

    async def close(self) -> None:
        """End every call and process; this takes a few seconds at most."""
        self._closed = True
        self._admission.close()
        for channel in list(self._channels):
            channel.terminate()
        ends: list[asyncio.Future[Any]] = [_wait_for_close(channel) for channel in self._channels]
        if ends:
            await asyncio.wait(ends, timeout=CALL_EXIT_SECONDS + 1)
        await self._feature_check.close(CALL_EXIT_SECONDS + 1)
        await self._zygotes.close()
        if self._background_tasks:
            await asyncio.wait(self._background_tasks, timeout=CALL_EXIT_SECONDS)

    async def _check(self, deadline: float) -> None:
        if self._closed:
            raise make_unavailable("No confined call is started any more: the board is shutting down")
        await self._feature_check.check(deadline)

    async def _get_zygote(self, environment: EnvironmentSpec, user_id: str, deadline: float) -> Zygote:
        try:
            async with timeout_at(deadline):
                return await self._zygotes.of(environment, user_id)
        except TimeoutError:
            raise make_unavailable(
                "The libraries of this tool were not loaded by the call's deadline; try again"
            ) from None

    async def _begin(
        self, zygote: Zygote, job: SandboxJob, deadline: float, on_progress: OnProgress | None
    ) -> CallChannel:
        """Request a call from the zygote, and return its channel."""
        seconds = min(job.seconds, deadline - time.monotonic())
        if seconds <= 0:
            raise make_unavailable("The call's deadline passed before it could be started; try again")
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise make_unavailable(f"The call could not be started: {error.strerror}") from None
        # The zygote has its own copy: after ours is closed, it holds the only one.
        with theirs:
            on_reports = make_report_reader(on_progress) if on_progress is not None else None
            channel = CallChannel(
                ours, most=job.result_bytes + 2 * self._output, network=job.network, on_reports=on_reports
            )
            self._channels.add(channel)
            channel.on_close(lambda: self._channels.discard(channel))
            try:
                channel.send(self._encode_job(job, seconds, self._folder(channel), reports=on_progress is not None))
                await zygote.begin(theirs, network=job.network)
            except BaseException:
                channel.terminate()
                raise
        channel.on_close(zygote.note_call_ended)
        return channel

    def _folder(self, channel: CallChannel) -> str | None:
        """Return a work folder that is removed after the call; None if the call has its own file system."""
        if "namespaces" not in self._disabled_features:
            return None
        try:
            folder = work_folder.create_work_folder()
        except OSError as error:
            raise make_unavailable(f"No work folder can be made for the call: {error.strerror}") from None
        channel.on_close(lambda: self._run_in_background(asyncio.to_thread(work_folder.remove_work_folder, folder)))
        return folder

    async def _run_call(
        self, channel: CallChannel, zygote: Zygote, job: SandboxJob, user_id: str, deadline: float
    ) -> ConfinedResult | None:
        """Return how the call ended; None if it certainly has not started and can be retried."""
        serving, ended = None, None
        try:
            if job.network:
                await wait_for_event(channel.listener_ready, zygote, deadline)
                if (listener := channel.listener()) is not None:
                    serving = self._proxy.serve(listener, user_id)
                    channel.send(b"l")
            await wait_for_event(channel.begins, zygote, deadline)
            zygote.note_call_started()
            async with asyncio.timeout(job.seconds + END_GRACE_SECONDS):
                ended = await channel.read_result()
        except TimeoutError:
            self._give_up_call(channel, zygote, deadline)
        except InvalidFrame as error:
            log.error("sandbox_answer_garbled", why=str(error))  # noqa: TRY400 -- `why` is enough
            raise InternalError from None
        finally:
            channel.terminate()
            if serving is not None:
                self._run_in_background(serving.close())
        if ended is not None:
            if ended.fate == "setup":
                raise Misconfigured(f"The call could not be confined, so it did not run: {ended.message}")
            return ended
        if self._closed:
            refusal = Unavailable("The call was ended: the board is shutting down")
            refusal.did_run = channel.started
            raise refusal
        if channel.started:
            raise ExecutionFailed("The tool's process was killed from outside before it reported a result")
        return None

    def _give_up_call(self, channel: CallChannel, zygote: Zygote, deadline: float) -> None:
        """Terminate the call and raise its error; return if the call has not started and there is time to retry."""
        # After this the call cannot start any more, so `started` is final.
        channel.terminate()
        if channel.started:
            raise TimedOut("The call did not end by its deadline, nor when it was terminated") from None
        if time.monotonic() >= deadline:
            if time.monotonic() - zygote.silent_since >= ZYGOTE_SILENCE_SECONDS:
                self._zygotes.drop(zygote)
            raise make_unavailable("The call was not begun by its deadline; try again") from None

    def _encode_job(self, job: SandboxJob, seconds: float, folder: str | None, *, reports: bool = False) -> bytes:
        fields = {
            **job.payload,
            "seconds": seconds,
            "limits": {**self._limits, "result": job.result_bytes},
            "network": job.network,
            "reports": reports,
            "folder": folder,
        }
        if "cwd" in fields:
            fields["cwd"] = posixpath.normpath(posixpath.join(folder or WORK_FOLDER, fields["cwd"]))
        # On a separate line: the supervisor passes the arguments on without parsing them.
        arguments = fields.pop("arguments", {})
        text = _encode_json(fields) + b"\n" + _encode_json(arguments)
        if len(text) > _MAX_JOB_BYTES:
            raise Misconfigured(f"The call and its code take {len(text)} bytes, of at most {_MAX_JOB_BYTES}")
        return len(text).to_bytes(4, "big") + text

    def _run_in_background(self, chore: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(chore)
        self._background_tasks.add(task)
        task.add_done_callback(self._background_tasks.discard)


def _encode_json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:
        # Integers above 64 bits, and lone surrogates.
        return json.dumps(value).encode()


async def wait_for_event(news: asyncio.Future[None], zygote: Zygote, deadline: float) -> None:
    """Wait for an event of a call that is to start; raise TimeoutError at the deadline, or if its zygote hangs."""
    since = time.monotonic()
    while not news.done():
        left = min(deadline, max(since, zygote.silent_since) + ZYGOTE_SILENCE_SECONDS) - time.monotonic()
        if left <= 0:
            raise TimeoutError
        await asyncio.wait((news,), timeout=left)


def _wait_for_close(channel: CallChannel) -> asyncio.Future[None]:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    channel.on_close(lambda: None if future.done() else future.set_result(None))
    return future
