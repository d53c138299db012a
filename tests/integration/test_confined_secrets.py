"""Secrets of python and shell tools reach their code and no other user, whatever the code does with them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from pegboard import Pegboard
from pegboard.model.secrets import MASK
from pegboard.testing import calls_of, member
from tests.integration.confined_board import STORED, ConfinedSurface, python, shell, warm

PLAIN = "hush-plain/1&2"
NAMED = "hush-named \"quoted\" 'twice' \\ 3"
FOREIGN = "hush-größe-€"
NUMBER = "4815162342108"
ENV = {"PLAIN": PLAIN, "NAMED": "{{secret:NAMED}}", "BEARER": "Bearer {{secret:NAMED}}"} | {
    "FOREIGN": FOREIGN,
    "NUMBER": NUMBER,
}
KNOWN = {"PLAIN": PLAIN, "NAMED": NAMED, "BEARER": f"Bearer {NAMED}", "FOREIGN": FOREIGN, "NUMBER": NUMBER}
DIGEST = hashlib.sha256("".join(KNOWN.values()).encode()).hexdigest()
# No other text in these tests begins like this; the digits are long enough not to occur by chance.
SIGNS = ("hush-", NUMBER[:8])

CODE = """
import hashlib, json, os, sys, time

NAMES = ("PLAIN", "NAMED", "BEARER", "FOREIGN", "NUMBER")


def leak(how: str):
    known = [os.environ[name] for name in NAMES]
    joined = " ".join(known)
    match how:
        case "know":
            return hashlib.sha256("".join(known).encode()).hexdigest()
        case "return":
            return {"list": known, "text": joined, "number": int(known[4]), **{each: 1 for each in known}}
        case "print":
            print(*known, json.dumps(known, ensure_ascii=False))
            print(*known, file=sys.stderr)
        case "bit by bit":
            for letter in joined:
                print(letter, end="", flush=True)
        case "raise":
            raise ValueError(joined)
        case "raise oddly":
            raise KeyError(known[0])
        case "name":
            raise type(joined, (Exception,), {})()
        case "unfit":
            return {joined: object()}
        case "exit":
            print(joined, file=sys.stderr, flush=True)
            os._exit(3)
        case "exit in words":
            sys.exit(joined)
        case "abort":
            print(joined, flush=True)
            os.abort()
        case "hang":
            print(joined, joined[:30], end="", flush=True)
            time.sleep(60)
        case "flood":
            while True:
                print(joined)
        case "much":
            print((joined + " ") * 2000)
        case "large":
            return known * 100_000
"""
SCRIPT = """
case "$how" in
    know) printf '%s' "$PLAIN$NAMED$BEARER$FOREIGN$NUMBER" | sha256sum | head -c 64;;
    print) env; env >&2;;
    fail) env >&2; exit 3;;
    unset) : "${NOT_SET:?$PLAIN $NAMED}";;
    run) "$NAMED" "$PLAIN";;
    hang) env >&2; sleep 60;;
    abort) env; env >&2; kill -ABRT $$;;
    flood) while :; do env; done;;
esac
"""


@pytest.fixture(autouse=True)
def listening(caplog: pytest.LogCaptureFixture) -> None:
    """Hear all that is logged."""
    caplog.set_level("DEBUG", "pegboard")


@pytest.fixture
async def named_secret(way: ConfinedSurface) -> None:
    """A named secret that tools refer to, and a process that was started for them."""
    await way.keep("NAMED", NAMED)
    await warm(way)


def found_in(*received: Any) -> set[str]:
    """Return the secrets that occur in this value."""
    texts = [each if isinstance(each, str) else repr(each) for each in received]
    return {sign for sign in SIGNS for each in texts if sign in each}


def files_in(folder: Path) -> list[Path]:
    """The files in a folder and below."""
    return [file for file in folder.rglob("*") if file.is_file()]


async def read_storage(board: Pegboard, tmp_path: Path) -> str:
    """Return everything that the board has on its disk and in its database."""
    files = [file.read_bytes().decode("latin-1") for file in files_in(tmp_path)]
    async with board.database.read() as conn:
        if board.database.kind != "sqlite":
            query = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
            for table in (await conn.execute(text(query))).scalars().all():
                rows = await conn.execute(text(f'SELECT CAST(row_to_json(t) AS TEXT) FROM "{table}" t'))
                files += rows.scalars().all()
    assert any("leak" in each for each in files)
    return "".join(files)


@pytest.mark.parametrize("through", STORED, indirect=True)
@pytest.mark.usefixtures("named_secret")
class TestNowhere:
    async def test_whatever_code_does_with_them_they_are_shown_nowhere(
        self, way: ConfinedSurface, board: Pegboard, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        kept: dict[str, Any] = {"keep_arguments": True, "keep_result": True, "is_public": True}
        found: list[Any] = [await way.create(python(CODE, "leak", env=ENV, timeout=2, **kept))]
        assert (await way.call("leak", {"how": "know"}))["result"] == DIGEST
        for how in CODE.split('case "')[1:]:
            word = how.partition('"')[0]
            answer = await way.once("leak", {"how": word}, f"key {word}")
            row = await way.row("leak")
            assert row["code"] != "internal_error", (word, row)
            assert not found_in(answer, row), word
            found += [answer, row]
        found.append(await way.change("leak", {"config": {"code": CODE + "\n", "env": ENV}}))
        found += [await way.versions("leak"), await way.lists("leak"), await read_storage(board, tmp_path), caplog.text]
        assert not found_in(*found)
        assert str(found).count(MASK) > 50

    async def test_whatever_a_command_does_with_them_they_are_shown_nowhere(
        self, way: ConfinedSurface, board: Pegboard, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        kept: dict[str, Any] = {"shell": True, "env": ENV, "timeout": 1, "keep_result": True, "is_public": True}
        found: list[Any] = [await way.create(shell(SCRIPT, "how", name="leak", **kept))]
        found.append(await way.create(shell(SCRIPT, "how", name="leak_json", parse="json", **kept)))
        assert (await way.call("leak", {"how": "know"}))["result"]["stdout"] == DIGEST
        for word in (line.partition(")")[0].strip() for line in SCRIPT.splitlines() if ";;" in line):
            for tool in ("leak", "leak_json"):
                answer = await way.once(tool, {"how": word}, f"key {word}")
                row = await way.row(tool)
                assert row["code"] != "internal_error", (word, row)
                assert not found_in(answer, row), (tool, word)
                found += [answer, row]
        found += [await way.versions("leak"), await way.lists("leak"), await read_storage(board, tmp_path), caplog.text]
        assert not found_in(*found)
        assert str(found).count(MASK) > 30


@pytest.mark.parametrize("through", ["library"], indirect=True)
@pytest.mark.parametrize("spelled", ["json.dumps(known)", "repr(known)", "ascii(known)"])
async def test_they_are_not_shown_as_json_and_python_write_them(way: ConfinedSurface, spelled: str) -> None:
    await way.keep("NAMED", NAMED)
    code = f"import json, os\ndef leak():\n    known = [os.environ[name] for name in {list(KNOWN)}]\n    "
    for number, done in enumerate(("print({})", "raise ValueError({})", "return {}")):
        await way.create(python(code + done.format(spelled), f"leak_{number}", env=ENV))
        answer = await way.call(f"leak_{number}")
        assert not found_in(answer, await way.row(f"leak_{number}"))


async def test_a_named_secret_that_changes_is_the_new_one_at_the_next_call(way: ConfinedSurface) -> None:
    await way.create(python("import os\ndef f(): return len(os.environ['KEY'])", env={"KEY": "{{secret:LATER}}"}))
    missing = await way.call("tool")
    assert missing["error_details"]["code"] == "secret_unreadable"
    for value in ("1234567", "12345678901"):
        await way.keep("LATER", value)
        assert (await way.call("tool"))["result"] == len(value)


async def test_code_and_commands_cannot_hold_a_reference_themselves(way: ConfinedSurface, board: Pegboard) -> None:
    await way.keep("NAMED", NAMED)
    for definition in (python("def f(): return '{{secret:NAMED}}'"), shell("echo {{secret:NAMED}}")):
        with pytest.raises(Exception, match="is filled in only within env"):
            await way.create(definition)
    await way.create(python("def f(x: str): return x"))
    assert (await way.call("tool", {"x": "{{secret:NAMED}}"}))["result"] == "{{secret:NAMED}}"
    assert len(await calls_of(board)) == 1


@pytest.mark.parametrize("through", ["library"], indirect=True)
async def test_a_member_who_calls_a_public_tool_sees_nothing_of_its_config(
    board: Pegboard, way: ConfinedSurface
) -> None:
    await way.keep("NAMED", NAMED)
    ada = await member(board, "ada")
    await way.create(python(CODE, "leak", env=ENV, is_public=True))
    result = await board.call("leak", {"how": "return"}, caller=ada)
    assert result.success
    row = await board.execution(result.run_id, caller=ada)
    assert not found_in(result.output, row, await board.definitions(caller=ada))
    await board.secrets.put("NAMED", "hush-of-ada", ada)
    assert (await board.call("leak", {"how": "know"}, caller=ada)).output == DIGEST
