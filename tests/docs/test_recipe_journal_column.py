"""The recipe "a journal column" is complete: the places that it names are enough, in a copy of the source code."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from pegboard import Pegboard
from pegboard.testing import NoSettings
from tests.docs.pages import ROOT, codes_in, text_of

SOURCE = ROOT / "src" / "pegboard"
SECRET_KEY = "cmVjaXBlLW9mLWEtam91cm5hbC1jb2x1bW4tMzItYiE="
ADMIN_KEY = "the-admin-key-of-the-recipe"
BOUND = 120
MIGRATION = """
import sqlalchemy as sa
from alembic import op

revision = "{name}"
down_revision = "{previous}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("executions", sa.Column("name_length", sa.Integer))
"""
# Runs with the copy: a call, its row, the export of the journal, the body of the API, and two verifications.
PROGRAM = """
import asyncio, json, sys
import httpx
import pegboard
from pegboard import Pegboard, create_app
from pegboard.testing import calls_of, memory_board

async def main(exported_before):
    async with Pegboard.open() as board:
        result = await board.call("echo", {"text": "after"})
        row = await board.execution(result.run_id)
        exported = (await board.audit.export()).lines
        transport = httpx.ASGITransport(create_app(board))
        async with httpx.AsyncClient(transport=transport, base_url="http://board", headers=HEADERS) as client:
            body = (await client.get(f"/v1/executions/{result.run_id}")).raise_for_status().json()
            schema = (await client.get("/openapi.json")).json()["components"]["schemas"]["ExecutionResponse"]
        checked, findings, report = 0, [], None
        while report is None or report.next is not None:
            report = await board.audit.verify(next=report and report.next)
            checked += report.checked
            findings += report.findings
        for lines in (exported, exported_before):
            findings += (await board.audit.verify_lines(lines)).findings
    async with memory_board() as board:
        await board.call("echo", {"text": "memory"})
        (in_memory,) = await calls_of(board)
    return {
        "source": pegboard.__file__,
        "row": row.name_length,
        "exported": {line["id"]: line["name_length"] for line in map(json.loads, exported) if "id" in line},
        "id": row.id,
        "body": body,
        "schema": schema,
        "checked": checked,
        "findings": [finding.message for finding in findings],
        "in_memory": in_memory.name_length,
    }

print(json.dumps(asyncio.run(main(json.load(sys.stdin)))))
"""


def edit(file: Path, before: str, after: str) -> None:
    """Replace a text that is in the file once."""
    text = file.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{before!r} in {file.name}"
    file.write_text(text.replace(before, after), encoding="utf-8")


def follow_recipe(copy: Path) -> set[str]:
    """Add an integer column according to the recipe; return the places that it needed."""
    fields = re.search(
        r"(class Execution\(NamedTuple\):.*?\n)\n\n", f"{(copy / 'model/call.py').read_text()}\n\n", re.S
    )
    assert fields
    edit(copy / "model/call.py", fields[1], f"{fields[1]}    name_length: int | None = None\n")

    versions = copy / "storage/migrations/versions"
    previous = max(path.stem for path in versions.glob("[0-9]*.py"))
    name = f"{int(previous[:4]) + 1:04}_name_lengths"
    (versions / f"{name}.py").write_text(MIGRATION.format(name=name, previous=previous), encoding="utf-8")

    table = re.search(r"\nCOLUMNS = \(\n.*?\n\)\n", (copy / "model/journal_row.py").read_text(), re.S)
    assert table
    line = f'    JournalColumn("name_length", ColumnType.INTEGER, since="{name}"),\n'
    edit(copy / "model/journal_row.py", table[0], f"{table[0].removesuffix(')' + chr(10))}{line})\n")

    value = "            repeat_of=self.repeat_of,\n        )\n"
    edit(
        copy / "stages/run.py", value, value.replace("        )", "            name_length=len(call.name),\n        )")
    )
    return {"model/call.py", "model/journal_row.py", "storage/migrations/versions/", "stages/run.py"}


async def test_the_four_places_of_the_recipe_are_enough(empty_database_url: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    keys: dict[str, Any] = {"secret_key": SECRET_KEY, "admin_key": ADMIN_KEY, "database_url": empty_database_url}
    async with Pegboard.open(settings=NoSettings(home=home, **keys)) as board:
        before = await board.call("echo", {"text": "before"})
        exported = (await board.audit.export()).lines

    copy = tmp_path / "copy" / "pegboard"
    shutil.copytree(SOURCE, copy)
    places = follow_recipe(copy)
    found = run_program(
        copy, exported, PEGBOARD_HOME=str(home), **{f"PEGBOARD_{name.upper()}": value for name, value in keys.items()}
    )

    assert Path(found["source"]).parent == copy
    assert (found["row"], found["body"]["name_length"], found["in_memory"]) == (4, 4, 4)
    assert found["exported"] == {before.run_id: None, found["id"]: 4}
    assert (found["checked"], found["findings"]) == (2, [])
    assert list(found["schema"]["properties"])[-1] == "name_length"
    assert "name_length" in found["schema"]["required"]
    recipe = next(
        part for part in text_of("docs/architecture.md").split("\n- ") if part.startswith("**a journal column**")
    )
    assert {code for code in codes_in(recipe.partition(" derive from ")[0]) if "/" in code} == places


def run_program(copy: Path, lines: list[str], **settings: str) -> dict[str, Any]:
    """What the program prints, run with a copy of the source code and without the settings of this machine."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PEGBOARD_")}
    environment |= {"PYTHONPATH": str(copy.parent), **settings}
    program = PROGRAM.replace("HEADERS", repr({"Authorization": f"Bearer {ADMIN_KEY}"}))
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(lines),
        capture_output=True,
        text=True,
        timeout=BOUND,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
