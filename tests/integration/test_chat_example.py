"""The seed's complete example, from an agent's answer to the memory and a live client, as a separate program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.surfaces.cli.run_program import serving

ROOT = Path(__file__).parents[2]
REPORTED = """\
🔧 Using Query Handbook...
🔧 Using Team Directory...
🔧 Using Create Ticket...
   queryHandbook: {"answer": "The team lead, up to 5,000 EUR."}
   getTeamDirectory: [{"name": "Ada", "role": "AI Engineer"}]
   createProjectTicket: {"ticket": "DEMO-7"}
I look that up, ask the team and open a ticket. (3 calls, thread """


def test_a_turn_of_a_chat_is_shown_run_and_remembered(tmp_path: Path) -> None:
    with serving(tmp_path) as url:
        key = (tmp_path / "credentials").read_text().strip()
        ran = subprocess.run(
            [sys.executable, str(ROOT / "examples" / "chat.py"), "Who approves?"],
            env={**os.environ, "PEGBOARD_URL": url, "PEGBOARD_KEY": key},
            capture_output=True,
            text=True,
            timeout=100,
            check=True,
        )
    used, _, rest = ran.stdout.partition("🔧")
    assert [line for line in used.splitlines() if line.startswith("  - ")] == [
        "  - Query Handbook",
        "  - Team Directory",
        "  - Create Ticket",
    ]
    assert '"query": "Who approves?"' in used
    assert f"🔧{rest}".startswith(REPORTED)
    assert [line.strip().partition(":")[0] for line in rest.splitlines()[-5:]] == ["user", "assistant", *["tool"] * 3]
