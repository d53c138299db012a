"""A bounded number of slots that users share."""

from __future__ import annotations


class FairShares:
    """Slots that users share; a user may take one more only while they hold fewer than are free.

    A single user can therefore take half of the slots, and every other user finds at least as many free as any user
    holds.
    """

    __slots__ = ("_free", "_taken", "most")

    def __init__(self, most: int) -> None:
        self.most = most
        self._free = most
        self._taken: dict[str, int] = {}

    def has_free_slot(self, user_id: str) -> bool:
        """Return True if this user may take one more slot."""
        return self._taken.get(user_id, 0) < self._free

    def take(self, user_id: str) -> bool:
        """Take a slot and return True; return False if the user already has their share."""
        taken = self._taken.get(user_id, 0)
        if taken >= self._free:
            return False
        self._free -= 1
        self._taken[user_id] = taken + 1
        return True

    def give_back(self, user_id: str) -> None:
        """Release one slot of this user."""
        self._free += 1
        left = self._taken[user_id] - 1
        if left:
            self._taken[user_id] = left
        else:
            del self._taken[user_id]

    def refusal_text(self, user_id: str, what: str) -> str:
        """Return the message for a refused slot: how many of `what` this user has, and the limit."""
        taken = self._taken.get(user_id, 0)
        return f"You have {taken:,} of at most {self.most:,} {what}, and the {self._free:,} left are for other users"
