"""What a confined call tells of itself on its way to whoever listens, without the tool's credentials."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from pegboard.core.call import OnProgress, Progress
from pegboard.executors.fates import without_half
from pegboard.executors.masking import Mask
from pegboard.sandbox.reports import LEFT_OUT

# A longer message is cut; one that is cut may end in the middle of a secret.
LONGEST_MESSAGE = 1000
# Where so many places of a text could be the beginning of a secret, it is not looked at which of them is.
_MOST_PLACES = 32
# Stands where a piece of output is missing.
_GAP = "…"


class PieceMask(Mask):
    """Masks texts that come in pieces; a secret of several lines is also found line by line."""

    __slots__ = ()

    def __init__(self, secrets: Iterable[str]) -> None:
        whole = tuple(secrets)
        super().__init__((*whole, *(line.strip() for secret in whole for line in secret.splitlines())))

    @property
    def longest(self) -> int:
        """How many characters the longest text has that is masked."""
        return len(self._texts[0]) if self._texts else 0

    def message(self, text: str) -> str:
        """The message without credentials, cut where it is long."""
        masked = self.text(text)
        return without_half(masked[:LONGEST_MESSAGE], self._texts) if len(text) >= LONGEST_MESSAGE else masked

    def number(self, number: float | None) -> float | None:
        """The number, unless it is a credential."""
        return None if number is None or (self._texts and self.text(str(number)) != str(number)) else number

    def end(self, text: str) -> str:
        """The last piece without credentials, nor the beginning of one."""
        return without_half(self.text(text), self._texts)

    def complete(self, text: str) -> int:
        """How much of the text can be masked and shown now; what comes next may make a secret of the rest."""
        shown = len(text) - max((_begun(text[1 - len(secret) :], secret) for secret in self._texts), default=0)
        if shown == len(text):
            return shown
        # A secret that is there as a whole must not be taken apart.
        while found := [at for secret in self._texts if (at := _across(text, shown, secret)) >= 0]:
            shown = min(found)
        return shown


class Passing:
    """Passes the progress of one call on; pieces of its output are held back while they may be the half of a secret.

    Where a piece is missing, so is as much of what follows as could be the other half of one.
    """

    __slots__ = ("_held", "_is_gap", "_mask", "_skipped", "_to")

    def __init__(self, to: OnProgress, mask: PieceMask) -> None:
        self._to = to
        self._mask = mask
        self._held = ""
        self._is_gap = False
        self._skipped = 0

    def __call__(self, progress: Progress) -> None:
        """Pass on what can be told now."""
        if progress == LEFT_OUT:
            self.end()
            self._is_gap, self._skipped = True, max(0, self._mask.longest - 1)
            return
        mask = self._mask
        number = mask.number(progress.progress)
        message = None if progress.message is None else mask.message(progress.message)
        partial = None
        if progress.partial is not None:
            partial = self._piece(progress.partial)
        if number is not None or message is not None or partial is not None:
            self._to(Progress(number, None if number is None else mask.number(progress.total), message, partial))

    def _piece(self, piece: str) -> str | None:
        skipped, self._skipped = piece[: self._skipped], max(0, self._skipped - len(piece))
        text = self._held + piece[len(skipped) :]
        shown = self._mask.complete(text)
        self._held = text[shown:]
        gap, self._is_gap = (_GAP, False) if self._is_gap else ("", False)
        return gap + self._mask.text(text[:shown]) or None

    def end(self) -> None:
        """Pass on what was held back, for no more comes."""
        held, self._held = self._held, ""
        if held:
            with suppress(Exception):  # the listener's own trouble
                self._to(Progress(partial=self._mask.end(held)))


def _begun(text: str, secret: str) -> int:
    """With how many characters of the secret's beginning, short of all, the text ends; rather more than too few."""
    at = -1
    for _ in range(_MOST_PLACES):
        at = text.find(secret[0], at + 1)
        if at < 0:
            return 0
        if secret.startswith(text[at:]):
            break
    return len(text) - at


def _across(text: str, place: int, secret: str) -> int:
    """Where the secret begins that lies across this place, or -1."""
    return text.find(secret, max(0, place - len(secret) + 1), place + len(secret) - 1)
