"""Masks the tool's credentials in the progress of a confined call."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from pegboard.kinds.confined_call import mask_partial_secret
from pegboard.kinds.secret_mask import SecretMask
from pegboard.model.call import OnProgress, Progress
from pegboard.sandbox.progress_reports import OMITTED_PROGRESS

# Longer messages are cut; a cut message may end in the middle of a secret.
MAX_MESSAGE_CHARS = 1000
# After this many positions that may begin a secret, hold back the rest of the text without comparing further.
_MAX_PREFIX_CANDIDATES = 32
# Marks missing output.
_GAP_MARK = "…"


class StreamMask(SecretMask):
    """Masks texts that arrive in pieces; the lines of a multi-line secret are also masked separately."""

    __slots__ = ()

    def __init__(self, secrets: Iterable[str]) -> None:
        whole = tuple(secrets)
        super().__init__((*whole, *(line.strip() for secret in whole for line in secret.splitlines())))

    @property
    def longest(self) -> int:
        """The number of characters of the longest masked text."""
        return len(self._secret_texts[0]) if self._secret_texts else 0

    def message(self, text: str) -> str:
        """Return the message without credentials, truncated to MAX_MESSAGE_CHARS."""
        masked = self.text(text)
        return (
            mask_partial_secret(masked[:MAX_MESSAGE_CHARS], self._secret_texts)
            if len(text) >= MAX_MESSAGE_CHARS
            else masked
        )

    def number(self, number: float | None) -> float | None:
        """Return the number, or None if it is a credential."""
        return None if number is None or (self._secret_texts and self.text(str(number)) != str(number)) else number

    def end(self, text: str) -> str:
        """Return the last piece without credentials and without the beginning of one."""
        return mask_partial_secret(self.text(text), self._secret_texts)

    def complete(self, text: str) -> int:
        """Return how many characters of the text can be masked and sent now; the rest may begin a secret."""
        shown = len(text) - max(
            (_measure_secret_prefix(text[1 - len(secret) :], secret) for secret in self._secret_texts), default=0
        )
        if shown == len(text):
            return shown
        # Do not split a complete secret.
        while found := [at for secret in self._secret_texts if (at := _find_secret_across(text, shown, secret)) >= 0]:
            shown = min(found)
        return shown


class MaskedProgress:
    """Forwards the progress of one call; holds back output that may be the first part of a secret.

    After a gap in the output, it drops as many characters as could be the second part of a secret.
    """

    __slots__ = ("_chars_to_skip", "_has_gap", "_held", "_mask", "_to")

    def __init__(self, to: OnProgress, mask: StreamMask) -> None:
        self._to = to
        self._mask = mask
        self._held = ""
        self._has_gap = False
        self._chars_to_skip = 0

    def __call__(self, progress: Progress) -> None:
        """Forward what can be sent now."""
        if progress == OMITTED_PROGRESS:
            self.end()
            self._has_gap, self._chars_to_skip = True, max(0, self._mask.longest - 1)
            return
        mask = self._mask
        number = mask.number(progress.progress)
        message = None if progress.message is None else mask.message(progress.message)
        partial = None
        if progress.partial is not None:
            partial = self._mask_piece(progress.partial)
        if number is not None or message is not None or partial is not None:
            self._to(Progress(number, None if number is None else mask.number(progress.total), message, partial))

    def _mask_piece(self, piece: str) -> str | None:
        skipped, self._chars_to_skip = piece[: self._chars_to_skip], max(0, self._chars_to_skip - len(piece))
        text = self._held + piece[len(skipped) :]
        shown = self._mask.complete(text)
        self._held = text[shown:]
        gap, self._has_gap = (_GAP_MARK, False) if self._has_gap else ("", False)
        return gap + self._mask.text(text[:shown]) or None

    def end(self) -> None:
        """Forward the output that was held back: no more follows."""
        held, self._held = self._held, ""
        if held:
            with suppress(Exception):  # an error of the subscriber
                self._to(Progress(partial=self._mask.end(held)))


def _measure_secret_prefix(text: str, secret: str) -> int:
    """Return the length of the secret's proper prefix that the text ends with; may be too large, never too small."""
    at = -1
    for _ in range(_MAX_PREFIX_CANDIDATES):
        at = text.find(secret[0], at + 1)
        if at < 0:
            return 0
        if secret.startswith(text[at:]):
            break
    return len(text) - at


def _find_secret_across(text: str, place: int, secret: str) -> int:
    """Return the index of a secret that spans this position, or -1."""
    return text.find(secret, max(0, place - len(secret) + 1), place + len(secret) - 1)
