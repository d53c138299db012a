"""Pegboard: the place that wires everything together, opens it and closes it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pegboard import wiring
from pegboard.builtins.baseline.baseline import Baseline
from pegboard.cancelling import Cancelling
from pegboard.chains.running import Chains
from pegboard.core.call import Caller
from pegboard.core.tool import Tool
from pegboard.dialects.catalog import dialects
from pegboard.egress.outbound import Resolver
from pegboard.executors.base import Prepared
from pegboard.executors.catalog import executors, installed_handlers, shipped_handlers
from pegboard.executors.internal import InternalExecutor
from pegboard.executors.table.sources import Sources
from pegboard.following.elsewhere import Elsewhere
from pegboard.following.following import Following
from pegboard.imports.imports import Imports
from pegboard.journal.audit import Audit
from pegboard.journal.base import Journal
from pegboard.journal.start import chain_of, spool_folder, start_journal
from pegboard.journal.statistics import Statistics
from pegboard.library import Library
from pegboard.live.onlookers import Onlookers
from pegboard.memory.threads import Threads
from pegboard.payloads import Payloads
from pegboard.pipeline import Pipeline
from pegboard.readiness import Readiness
from pegboard.registry.confined import CodeRules
from pegboard.registry.drift import Flagging
from pegboard.registry.executions import Executions
from pegboard.registry.first_run import Started
from pegboard.registry.hanging import Functions
from pegboard.registry.named_secrets import NamedSecrets
from pegboard.registry.opening import Opener
from pegboard.registry.people import People
from pegboard.registry.registry import Registry
from pegboard.registry.rotation import RotationReport, rotate
from pegboard.registry.signing import PeopleSigner
from pegboard.registry.snapshot import Snapshot
from pegboard.registry.tables.live import Tables
from pegboard.replay import Replays
from pegboard.settings import Settings
from pegboard.stages.check import Checker
from pegboard.stages.large_reads import LargeReads
from pegboard.store.changes import Changes
from pegboard.store.database import Database
from pegboard.telemetry.metrics import Metrics
from pegboard.telemetry.tracing import find_tracing


class Pegboard(Library):
    """A board that is open: register tools, call them, read what happened."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        started: Started,
        journal: Journal | None = None,
        resolver: Resolver | None = None,
    ) -> None:
        self.settings = settings
        self.new_key = started.new_key
        self.metrics = Metrics()
        self.onlookers = Onlookers()
        self.dialects = dialects()
        self._database = database
        self._vault = started.vault
        signer = PeopleSigner(self._vault)
        self.snapshot = Snapshot(database, signer, self._prepare)
        self._internal = InternalExecutor(self.snapshot.is_or_was_admin)
        self.baseline = Baseline(database)
        self._internal.handlers.update(shipped_handlers(self.baseline) | installed_handlers())
        self._reach = wiring.reach_of(settings, resolver)
        self.confinement = wiring.confinement_of(settings, database, self._reach)
        rules = CodeRules(
            settings.shell_for_members, self.confinement.libraries, settings.max_result_bytes, self._internal
        )
        self.tools = Registry(database, self.snapshot, self._vault, self._reach.outbound.check, rules)
        self._flagging = Flagging(self.tools)
        self._sources = Sources(database, chain_of(self._vault).sign_receipt)
        self._executors = executors(self._internal, self._reach, self.confinement, self._sources, self._flagging.flag)
        self.people = People(database, self.snapshot, signer)
        self.secrets = NamedSecrets(database, self.snapshot, self._vault)
        self._opener = Opener(self._vault, self.secrets.value)
        self.admin = Caller(started.admin.id, started.admin.name, "admin")
        if settings.admin_key is not None and not self._vault.is_rooted:
            # Without its encryption key the board recognises no stored key; this one the settings vouch for.
            self.snapshot.admit(settings.admin_key.get_secret_value(), self.admin)
        self._functions = Functions(self._internal, self.snapshot, self._vault, self.admin)
        self.tables = Tables(settings.tables, self._sources, self.snapshot, self.admin.user_id, os.environ)
        self._limiter = wiring.limiter_of(settings)
        self._journal = journal or start_journal(
            database, self._vault, spool_folder(database, settings.home, started.admin.id)
        )
        self.pipeline = Pipeline(
            snapshot=self.snapshot,
            validator=wiring.validator_of(settings, self._vault),
            limiter=self._limiter,
            flood=settings.key_rate,
            checker=Checker(max_bytes=settings.max_result_bytes),
            journal=self._journal,
            metrics=self.metrics,
            tracing=find_tracing(),
            onlookers=self.onlookers,
            max_running=settings.max_running_calls,
        )
        self._readiness = Readiness(database, self._journal, self._limiter, lambda: self.pipeline.is_draining)
        self.chains = Chains(self.pipeline)
        self._internal.run_chain = self.chains.as_tool
        self.audit = Audit(database, chain_of(self._vault))
        self.statistics = Statistics(database)
        self.imports = Imports.of(
            self.tools,
            database,
            self.snapshot,
            reach=self._reach,
            opener=self._opener,
            max_bytes=settings.max_import_bytes,
        )
        self.payloads = Payloads(
            self.dialects, self.pipeline, self.snapshot, LargeReads(self._limiter, settings.key_rate)
        )
        self.threads = Threads(database, self.payloads)
        self.following = Following(self.payloads, self.threads, max_followed=settings.max_followed_calls)
        self.replays = Replays(database, self.snapshot, self.pipeline, self._prepare, rules.refuse)
        self._recorded = Executions(database, self.snapshot)
        self.cancelling = Cancelling(self.pipeline, self.following, database, self._recorded)
        self._elsewhere = Elsewhere(database, self.onlookers, lambda: getattr(self._journal, "number", None))

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        database: str | None = None,
        *,
        settings: Settings | None = None,
        journal: Journal | None = None,
        resolver: Resolver | None = None,
    ) -> AsyncIterator[Pegboard]:
        """A board on this database: "memory", or the URL of a SQLite file or PostgreSQL; set up if it is new.

        A `journal` and a `resolver` of one's own stand in for the board's, in tests.
        """
        settings = settings or Settings()
        if database is not None:
            settings = settings.model_copy(update={"database_url": database})
        store = Database.create(settings.database)
        try:
            board = cls(settings, store, await wiring.started(settings, store), journal, resolver)
            await board.snapshot.refresh()
            await board.tables.load()
            changes = Changes(store, seen=board.snapshot.revision)
            watching = [
                asyncio.create_task(changes.watch(board._changed), name="pegboard-changes"),
                asyncio.create_task(board.tables.watch(), name="pegboard-tables"),
            ]
            try:
                yield board
            finally:
                for task in watching:
                    task.cancel()
                await asyncio.gather(*watching, return_exceptions=True)
                await board._close()
        finally:
            await store.close()

    async def rotate_secrets(
        self, *, on_progress: Callable[[int, int], None] | None = None, force: bool = False
    ) -> RotationReport:
        """Encrypt every credential anew under a new key, while the board serves; `force` gives up unreadable ones."""
        report = await rotate(self._database, self._vault, on_progress=on_progress, force=force)
        await self.snapshot.refresh()
        return report

    async def ready(self) -> list[str]:
        """What keeps the board from serving calls; empty if nothing does."""
        return await self._readiness.reasons()

    async def drain(self) -> None:
        """Take no more calls and let the running ones end."""
        await self.pipeline.drain(self.settings.drain_seconds)

    async def _changed(self, _revision: int) -> None:
        await self.snapshot.refresh()
        await self.cancelling.look()

    async def _close(self) -> None:
        self.onlookers.close()
        await self.drain()
        await self.following.close()
        self.payloads.large_reads.close()
        await self.cancelling.close()
        await self._elsewhere.close()
        await self._journal.close()
        await self._flagging.close()
        self.imports.close()
        for executor in self._executors.values():
            await executor.close()
        await self._sources.close()
        await self.confinement.close()
        await self._reach.close()
        await self._limiter.close()

    def _prepare(self, tool: Tool) -> Prepared:
        return self._executors[tool.tool_type].prepare(self._opener.open(tool))
