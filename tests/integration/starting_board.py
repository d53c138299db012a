"""Start a board and print who its admin is: `starting_board.py DATABASE_URL HOME`."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from pegboard import Pegboard
from pegboard.testing import NoSettings


async def start(url: str, home: Path) -> None:
    """Print the new key, the id of the admin and the key of the digests."""
    async with Pegboard.open(url, settings=NoSettings(home=home)) as board:
        found = {"key": board.new_key, "admin": board.admin.user_id, "digest": board.vault.digest_key().hex()}
        sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(start(sys.argv[1], Path(sys.argv[2])))
