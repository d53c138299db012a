"""The Pegboard class: builds all components of a board, opens it and closes it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from pegboard import wiring
from pegboard.baseline.baseline import Baseline
from pegboard.conversations.conversations import Conversations
from pegboard.dialect_calls import PayloadRunner
from pegboard.dialects.catalog import load_dialects
from pegboard.http_client.guarded_client import Resolver
from pegboard.journal.audit import Audit
from pegboard.journal.commit_queue import DatabaseJournal
from pegboard.journal.journal import Journal
from pegboard.journal.open_journal import (
    create_transactional_journal,
    get_spool_folder,
    open_chain,
    start_journal,
)
from pegboard.journal.receipts import ReceiptJournal
from pegboard.journal.statistics import Statistics
from pegboard.kinds.base import Prepared
from pegboard.kinds.catalog import build_executors, make_missing_error
from pegboard.kinds.chain.run_chain import ChainRunner
from pegboard.kinds.internal.executor import InternalExecutor
from pegboard.kinds.internal.functions import FunctionRegistry, build_shipped_handlers, load_installed_handlers
from pegboard.kinds.mcp.drift import DriftFlagger
from pegboard.kinds.mcp.peer import UpstreamPeer
from pegboard.kinds.table.file_watcher import TablesFileWatcher
from pegboard.kinds.table.sources import TableSources
from pegboard.library import Library
from pegboard.model.call import Caller
from pegboard.model.registered_upstream import RegisteredUpstream
from pegboard.model.tool import Tool
from pegboard.pipeline import Pipeline
from pegboard.progress.board_watchers import BoardWatchers
from pegboard.readiness import Readiness
from pegboard.registry.account_macs import AccountSigner
from pegboard.registry.build_tool import build_local_tool
from pegboard.registry.execution_reader import ExecutionReader
from pegboard.registry.first_start import StartedBoard
from pegboard.registry.import_runner import Imports
from pegboard.registry.key_holders import KeyUsage
from pegboard.registry.key_rotation import RotationReport, rotate_keys
from pegboard.registry.named_secrets import NamedSecrets, SecretInjector
from pegboard.registry.registration_policy import RegistrationPolicy
from pegboard.registry.snapshot import Snapshot
from pegboard.registry.tool_registry import ToolRegistry
from pegboard.registry.upstream_registry import UpstreamRegistry
from pegboard.runs.cancellation import CallCanceller
from pegboard.runs.followed_runs import FollowedRuns
from pegboard.runs.handle import CallHandler
from pegboard.runs.other_processes import OtherProcessWatcher
from pegboard.runs.replay import CallReplayer
from pegboard.settings import Settings
from pegboard.stages.check_output import OutputChecker
from pegboard.stages.large_reads import LargePayloadReader
from pegboard.storage.change_listener import ChangeListener
from pegboard.storage.database import Database
from pegboard.telemetry.metrics import Metrics
from pegboard.telemetry.tracing import find_tracing


class Pegboard(Library):
    """An open board: registers tools, calls them and reads the journal."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        started: StartedBoard,
        journal: Journal | None = None,
        resolver: Resolver | None = None,
    ) -> None:
        self.settings = settings
        self.new_key = started.new_key
        self.metrics = Metrics()
        self.watchers = BoardWatchers()
        self.dialects = load_dialects()
        self.database = database
        self.vault = started.vault
        signer = AccountSigner(self.vault)
        self.snapshot = Snapshot(database, signer, self._prepare, self._make_peer, settings.session_idle_seconds)
        self._internal = InternalExecutor(self.snapshot.is_or_was_admin)
        self.baseline = Baseline(database)
        self._internal.handlers.update(build_shipped_handlers(self.baseline) | load_installed_handlers())
        self._outbound_services = wiring.create_outbound_services(settings, resolver)
        self._upstreams = wiring.create_mcp_sessions(settings, self._outbound_services.outbound)
        self.confinement = wiring.create_confinement(settings, database, self._outbound_services)
        rules = RegistrationPolicy(
            settings.shell_for_members,
            self.confinement.libraries,
            settings.max_result_bytes,
            self._internal.may_use_handler,
            self._internal.for_members,
        )
        self.tools = ToolRegistry(database, self.snapshot, self.vault, self._outbound_services.outbound.check, rules)
        self._drift_flagger = DriftFlagger(self.tools.flag)
        spools = get_spool_folder(database, settings.home, started.admin.id)
        # A journal for tests has the rows of all calls.
        transactional = create_transactional_journal(database, self.vault, spools) if journal is None else None
        self.journal = journal or start_journal(database, self.vault, spools)
        self._receipts = None
        if isinstance(self.journal, DatabaseJournal):
            self._receipts = ReceiptJournal(self.journal, database, open_chain(self.vault), started.admin.id)
        self._sources = TableSources(database, transactional, self._receipts)
        self.executors = build_executors(
            wiring.ExecutorServices(
                self._outbound_services,
                self.confinement,
                self._internal,
                self._upstreams,
                self._drift_flagger.flag,
                self._sources,
            )
        )
        self.people, self.sessions = wiring.create_accounts(settings, database, self.snapshot, signer)
        self.secrets = NamedSecrets(database, self.snapshot, self.vault)
        self._opener = SecretInjector(self.vault, self.secrets.value)
        self.admin = Caller(started.admin.id, started.admin.name, "admin")
        if settings.admin_key is not None and not self.vault.is_rooted:
            # Without its encryption key the board cannot verify stored keys, but accepts the admin key of the settings.
            self.snapshot.admit(settings.admin_key.get_secret_value(), self.admin)
        self._functions = FunctionRegistry(
            self._internal, self.snapshot, partial(build_local_tool, vault=self.vault, owner=self.admin, rules=rules)
        )
        self.tables = TablesFileWatcher(settings.tables, self._sources, self.snapshot, self.admin.user_id, os.environ)
        self._limiter = wiring.create_limiter(settings)
        self.pipeline = Pipeline(
            snapshot=self.snapshot,
            validator=wiring.create_validator(settings, self.vault),
            limiter=self._limiter,
            flood=settings.key_rate,
            checker=OutputChecker(max_bytes=settings.max_result_bytes),
            journal=self.journal,
            metrics=self.metrics,
            tracing=find_tracing(),
            watchers=self.watchers,
            max_running=settings.max_running_calls,
        )
        self._readiness = Readiness(database, self.journal, self._limiter, lambda: self.pipeline.is_draining)
        self.chains = ChainRunner(self.pipeline, max_depth=settings.max_depth, max_bytes=settings.max_arguments_bytes)
        self._internal.run_chain = self.chains.run_as_tool
        self.audit = Audit(database, open_chain(self.vault))
        self.statistics = Statistics(database)
        self.imports = Imports.of(
            self.tools,
            outbound=self._outbound_services.outbound,
            upstreams=self._upstreams,
            breakers=self._outbound_services.breakers,
            opener=self._opener,
            max_bytes=settings.max_import_bytes,
        )
        self.payloads = PayloadRunner(
            self.dialects, self.pipeline, self.snapshot, LargePayloadReader(self._limiter, settings.key_rate)
        )
        self.threads = Conversations(database, self.payloads)
        self.following = FollowedRuns(self.payloads, max_followed=settings.max_followed_calls)
        self.calls = CallHandler(
            snapshot=self.snapshot,
            pipeline=self.pipeline,
            payloads=self.payloads,
            threads=self.threads,
            following=self.following,
            chains=self.chains,
        )
        self.replays = CallReplayer(database, self.snapshot, self.pipeline, self._prepare, rules.check_registration)
        self._recorded = ExecutionReader(database, self.snapshot)
        self.cancelling = CallCanceller(self.pipeline, self.following, database, self._recorded)
        self._other_processes = OtherProcessWatcher(
            database,
            self.watchers,
            lambda: {getattr(self.journal, "number", None), transactional.number if transactional else None},
        )

    @property
    def upstreams(self) -> UpstreamRegistry:
        """The imported MCP servers."""
        return self.imports.registered

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
        """Open a board on this database: "memory", or the URL of a SQLite file or PostgreSQL; create a missing schema.

        `journal` and `resolver` replace the board's own, for tests.
        """
        settings = settings or Settings()
        if database is not None:
            settings = settings.model_copy(update={"database_url": database})
        store = Database.create(settings.database)
        try:
            board = cls(settings, store, await wiring.run_first_start(settings, store), journal, resolver)
            board.watchers.on_close.add(board.snapshot.changes.close)
            await board.snapshot.refresh()
            await board.tables.load()
            changes = ChangeListener(store, seen=board.snapshot.revision)
            usage = KeyUsage(store, board.snapshot.keys)
            watching = [
                asyncio.create_task(changes.watch(board._on_change), name="pegboard-changes"),
                asyncio.create_task(board.tables.watch(), name="pegboard-tables"),
                asyncio.create_task(usage.run(), name="pegboard-key-usage"),
            ]
            if board._receipts is not None:
                watch = board._receipts.watch(board._sources.list_receipt_stores, board._list_receipt_databases)
                watching.append(asyncio.create_task(watch, name="pegboard-receipts"))
            try:
                yield board
            finally:
                for task in watching:
                    task.cancel()
                await asyncio.gather(*watching, return_exceptions=True)
                await board._close()
                await usage.close()
        finally:
            await store.close()

    async def rotate_secrets(
        self, *, on_progress: Callable[[int, int], None] | None = None, force: bool = False
    ) -> RotationReport:
        """Encrypt every credential with a new key while the board serves; `force` drops the unreadable ones."""
        report = await rotate_keys(self.database, self.vault, on_progress=on_progress, force=force)
        await self.snapshot.refresh()
        return report

    async def ready(self) -> list[str]:
        """Return the reasons why the board cannot serve calls; empty if it is ready."""
        return await self._readiness.reasons()

    async def drain(self) -> None:
        """Stop accepting calls and wait for the running ones to end."""
        await self.pipeline.drain(self.settings.drain_seconds)

    async def _on_change(self, _revision: int) -> None:
        await self.snapshot.refresh()
        await self.cancelling.look()

    async def _close(self) -> None:
        self.watchers.close()
        await self.drain()
        await self.following.close()
        self.payloads.large_reads.close()
        await self.cancelling.close()
        await self._other_processes.close()
        await self.journal.close()
        await self._drift_flagger.close()
        await self.imports.close()
        for executor in self.executors.values():
            await executor.close()
        await self._sources.close()
        await self.confinement.close()
        await self._upstreams.close()
        await self._outbound_services.close()
        await self._limiter.close()

    def _list_receipt_databases(self) -> set[str]:
        return self._sources.list_receipt_databases(item.tool for item in self.snapshot.iterate_tools())

    def _make_peer(self, upstream: RegisteredUpstream) -> UpstreamPeer:
        return UpstreamPeer(self.imports.monitor, upstream, partial(self.upstreams.open, upstream))

    def _prepare(self, tool: Tool) -> Prepared:
        executor = self.executors.get(tool.tool_type)
        if executor is None:
            raise make_missing_error(tool.tool_type)
        return executor.prepare(self._opener.open(tool))
