"""What tools that run code share: the sandbox, the libraries that there are, and what of the board they never see."""

from __future__ import annotations

from dataclasses import dataclass

from pegboard.egress.outbound import Outbound
from pegboard.sandbox.abilities import Abilities
from pegboard.sandbox.libraries import Libraries
from pegboard.sandbox.limits import Limits
from pegboard.sandbox.sandbox import Sandbox
from pegboard.telemetry.logs import get_logger

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Confinement:
    """The board's one sandbox and what goes with it."""

    sandbox: Sandbox
    libraries: Libraries
    own: tuple[str, ...]
    without: tuple[str, ...]
    max_result_bytes: int

    @classmethod
    def of(
        cls,
        limits: Limits,
        *,
        children: int,
        zygotes: int,
        without: tuple[str, ...],
        own: tuple[str, ...],
        libraries: tuple[str, ...],
        max_result_bytes: int,
        outbound: Outbound,
    ) -> Confinement:
        """What these settings allow; no process is started yet. `own` are the files and folders of the board itself."""
        sandbox = Sandbox(limits, children=children, zygotes=zygotes, without=without, masked=own, outbound=outbound)
        return cls(sandbox, Libraries(libraries), own, without, max_result_bytes)

    @property
    def can_hide(self) -> bool:
        """Whether what is the board's own can be hidden inside of a folder that a command is shown."""
        return "namespaces" not in self.without

    async def tell(self) -> None:
        """Say in the log what confines python and shell tools on this machine."""
        tell(await self.sandbox.abilities(), self.without)

    async def close(self) -> None:
        """End every confined process."""
        await self.sandbox.close()


def tell(found: Abilities, without: tuple[str, ...]) -> None:
    """Say in the log what confines tools where these abilities were found and these may be missing."""
    has = {"landlock": found.landlock, "namespaces": found.namespaces, "seccomp": found.seccomp, "proc": found.proc}
    if missing := found.missing(without):
        log.warning("sandbox_missing", **has, missing=missing)
    elif without:
        log.warning("sandbox_without", **has, without=list(without))
    else:
        log.info("sandbox_ready", **has)
