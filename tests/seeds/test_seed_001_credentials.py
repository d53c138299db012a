"""Seed 001, authentication configuration: its types, encrypted at rest in both databases, masked everywhere."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text

from pegboard import Pegboard, Refusal
from pegboard.registry.secret_fields import open_auth
from pegboard.storage.database import Database
from pegboard.testing import NoSettings, calls_of
from tests.board_surfaces import RequestRefused, Surface

# Every type of the seed's table with its fields, and the values that no caller may ever read.
TYPES: dict[str, dict[str, Any]] = {
    "bearer": {"type": "bearer", "token": "hush-token"},
    "basic": {"type": "basic", "username": "hush-user", "password": "hush-password"},
    "api_key": {"type": "api_key", "api_key": "hush-key", "header_name": "hush-X-Key"},
    "custom": {
        "type": "custom",
        "headers": {"X-Signature": "hush-signature"},
        "custom": {"deep": {"er": "hush-deep"}, "list": ["hush-item"], "number": 41424344},
    },
}
WORDS = ("hush-", "41424344")
MASK = "********"
SHOWN: dict[str, dict[str, Any]] = {
    "bearer": {"type": "bearer", "token": MASK},
    "basic": {"type": "basic", "username": MASK, "password": MASK},
    "api_key": {"type": "api_key", "api_key": MASK, "header_name": MASK},
    "custom": {
        "type": "custom",
        "headers": {"X-Signature": MASK},
        "custom": {"deep": {"er": MASK}, "list": MASK, "number": MASK},
    },
}


def mock(name: str = "quote", **more: Any) -> dict[str, Any]:
    base = {"name": name, "tool_type": "mock", "config": {"mock_response": 1}, "input_schema": {"type": "object"}}
    return {**base, **more}


@pytest.fixture
async def stored(database_url: str, tmp_path: Path) -> AsyncIterator[Pegboard]:
    """A board on a real database with a key file."""
    async with Pegboard.open(database_url, settings=NoSettings(home=tmp_path / "home")) as board:
        yield board


async def everything(url: str) -> str:
    """Return every row of every table as it is stored, and for SQLite the bytes of its files."""
    database = Database.create(url)
    found = []
    async with database.read() as conn:
        for table in await conn.run_sync(lambda sync: inspect(sync).get_table_names()):
            found += [str(tuple(row)) for row in await conn.execute(text(f'SELECT * FROM "{table}"'))]
    await database.close()
    if database.file is not None:
        beside = database.file.parent.glob(f"{database.file.name}*")
        files = [file for path in beside for file in (path.rglob("*") if path.is_dir() else [path])]
        found += [file.read_bytes().decode("latin-1") for file in files]
    assert len(found) > 10
    return "\n".join(found)


class TestAuthConfigStructure:
    """Authentication Configuration: Auth Config Structure."""

    async def test_every_type_is_shown_masked_field_by_field(self, surface: Surface) -> None:
        for kind, auth in TYPES.items():
            made = await surface.create(mock(f"by_{kind}", auth_config=auth))
            assert made["auth_config"] == SHOWN[kind]
            assert (await surface.show(f"by_{kind}"))["auth_config"] == SHOWN[kind]

    async def test_what_was_masked_can_be_sent_back_and_stays(self, board: Pegboard, surface: Surface) -> None:
        made = await surface.create(mock(auth_config=TYPES["basic"]))
        changed = await surface.change("quote", {"auth_config": {**SHOWN["basic"], "password": "hush-new"}})
        assert changed["auth_config"] == SHOWN["basic"]
        assert changed["version"] == made["version"] + 1
        assert await opened(board, "quote") == {**TYPES["basic"], "password": "hush-new"}

    async def test_null_takes_it_away(self, board: Pegboard, surface: Surface) -> None:
        await surface.create(mock(auth_config=TYPES["bearer"]))
        assert (await surface.change("quote", {"auth_config": None}))["auth_config"] is None
        assert await opened(board, "quote") is None


class TestAuthTypes:
    """Authentication Configuration: Auth Types."""

    async def test_a_type_without_its_fields_is_refused_by_name(self, surface: Surface) -> None:
        for auth, named in [
            ({"type": "bearer"}, "auth_config of type bearer needs 'token'"),
            ({"type": "bearer", "token": ""}, "auth_config of type bearer needs 'token'"),
            ({"type": "bearer", "token": 3}, "auth_config of type bearer needs 'token'"),
            ({"type": "basic", "username": "u"}, "auth_config of type basic needs 'password'"),
            ({"type": "basic", "password": "p"}, "auth_config of type basic needs 'username'"),
            ({"type": "api_key", "header_name": "X"}, "auth_config of type api_key needs 'api_key'"),
            ({"token": "t"}, "auth_config.type: required"),
            ({"type": "oauth9"}, "auth_config.type"),
        ]:
            with pytest.raises(RequestRefused) as refused:
                await surface.create(mock(auth_config=auth))
            assert named in " ".join(refused.value.message.split())

    async def test_a_mask_that_stands_for_nothing_is_refused(self, surface: Surface) -> None:
        with pytest.raises(RequestRefused) as refused:
            await surface.create(mock(auth_config=SHOWN["bearer"]))
        assert f"auth_config.token: is '{MASK}', which keeps the stored value" in " ".join(
            refused.value.message.split()
        )

    async def test_custom_takes_arbitrary_fields(self, board: Pegboard) -> None:
        await board.add(mock(auth_config=TYPES["custom"]))
        assert await opened(board, "quote") == TYPES["custom"]


async def opened(board: Pegboard, tool: str) -> Any:
    """The auth_config that an executor is given."""
    found = await board.tools.get(tool, board.admin)
    return open_auth(found.sealed_auth, board.vault, found.id, str)


class TestEncryptedAtRest:
    """Security Note: auth_config is encrypted at rest using AES-256-GCM."""

    async def test_no_row_of_any_table_holds_a_credential_in_plain(self, stored: Pegboard, database_url: str) -> None:
        http = {"url": "https://example.com", "method": "GET", "headers": {"X-Key": "hush-header"}}
        shell = {"command": "true", "env": {"KEY": "hush-env"}}
        for kind, auth in TYPES.items():
            await stored.add(mock(f"by_{kind}", auth_config=auth))
            await stored.tools.update(f"by_{kind}", {"auth_config": {**auth, "more": "hush-more"}}, stored.admin)
        await stored.add(mock("http", tool_type="http", config=http))
        await stored.add(mock("shell", tool_type="shell", config=shell))
        await stored.secrets.put("NAMED", "hush-named", stored.admin)
        await stored.tools.delete("by_basic", stored.admin)
        for tool in ("by_bearer", "http", "shell"):
            await stored.call(tool)
        held = await everything(database_url)
        assert not [word for word in WORDS if word in held]
        assert not [word for word in ("hush-token", "hush-header") if base64.b64encode(word.encode()).decode() in held]
        assert held.count("pb1:") > 10
        assert stored.new_key is not None
        assert stored.new_key not in held

    async def test_it_is_aes_256_gcm_with_a_fresh_nonce_bound_to_its_row(
        self, stored: Pegboard, database_url: str, tmp_path: Path
    ) -> None:
        same = TYPES["bearer"]
        first, second = [await stored.add(mock(name, auth_config=same)) for name in ("one", "two")]
        sealed = [tool.sealed_auth["$sealed"] for tool in (first, second) if tool.sealed_auth]
        assert len(set(sealed)) == 2
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        (key,) = json.loads((tmp_path / "home" / "secret.key").read_text())["keys"]
        assert len(base64.b64decode(key)) == 32
        data = base64.urlsafe_b64decode(sealed[0].split(":")[2] + "==")
        box = AESGCM(base64.b64decode(key))
        assert json.loads(box.decrypt(data[:12], data[12:], first.id.encode())) == same
        with pytest.raises(InvalidTag):
            box.decrypt(data[:12], data[12:], second.id.encode())

    async def test_it_is_readable_again_after_a_restart(self, database_url: str, tmp_path: Path) -> None:
        settings = NoSettings(home=tmp_path / "home")
        async with Pegboard.open(database_url, settings=settings) as board:
            await board.add(mock(auth_config=TYPES["basic"]))
        async with Pegboard.open(database_url, settings=settings) as board:
            assert await opened(board, "quote") == TYPES["basic"]

    async def test_logs_and_journal_never_hold_it(self, stored: Pegboard, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level("DEBUG")
        caplog.set_level("DEBUG", "pegboard")
        await stored.add(mock(auth_config=TYPES["basic"], keep_arguments=True))
        await stored.call("quote", {"a": 1})
        with pytest.raises(Refusal) as refused:
            await stored.add(mock("other", auth_config={**TYPES["basic"], "password": ["hush-list"]}))
        assert "hush-" not in str(refused.value)
        assert "hush-" not in str(await calls_of(stored))
        assert "hush-" not in caplog.text
