"""Users, keys, agents and secrets in the database."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from pegboard.model.accounts import User
from pegboard.model.ids import new_id
from pegboard.storage import account_rows
from pegboard.storage.database import Database
from tests.unit.storage.sample_rows import NOW, a_key, a_secret, a_user, an_agent, kept_user

LATER = NOW + timedelta(days=1)


@pytest.fixture
async def ada(database: Database) -> User:
    """A stored user, since revision 1."""
    return await kept_user(database, "Ada")


async def test_a_user_returns_as_saved(database: Database, ada: User) -> None:
    deleted = replace(ada, name="Lovelace", role="admin", updated_at=LATER, is_deleted=True, deleted_at=LATER)
    async with database.read() as conn:
        assert await account_rows.users.get(conn, ada.id) == ada
        assert await account_rows.find_user_by_name(conn, "ADA") == ada
        assert await account_rows.users.get(conn, "nonsense") is None
        assert await account_rows.users.list_changed(conn, 1) == []
    async with database.change() as change:
        await account_rows.users.save(change.conn, deleted, revision=change.revision)
    async with database.read() as conn:
        assert await account_rows.users.get(conn, ada.id) == deleted
        assert await account_rows.find_user_by_name(conn, "lovelace") is None
        assert await account_rows.users.page(conn, limit=10) == []
        assert await account_rows.users.list_changed(conn, 1) == [deleted]


async def test_a_user_s_name_is_taken_in_any_case_until_they_are_deleted(database: Database, ada: User) -> None:
    with pytest.raises(IntegrityError):
        await kept_user(database, "aDA")
    async with database.change() as change:
        await account_rows.users.save(change.conn, replace(ada, is_deleted=True), revision=change.revision)
    await kept_user(database, "aDA")


async def test_names_beyond_ascii_are_compared_alike_in_both_databases(database: Database) -> None:
    zoe = await kept_user(database, "ZOË")
    async with database.read() as conn:
        assert await account_rows.find_user_by_name(conn, "zoË") == zoe
        assert await account_rows.find_user_by_name(conn, "zoë") is None


async def test_users_are_paged_oldest_first(database: Database, ada: User) -> None:
    bob, eve = await kept_user(database, "bob"), await kept_user(database, "eve")
    async with database.read() as conn:
        assert await account_rows.users.page(conn, limit=2) == [ada, bob]
        assert await account_rows.users.page(conn, after=bob.id, limit=2) == [eve]


async def test_only_the_roles_there_are_can_be_kept(database: Database) -> None:
    with pytest.raises(IntegrityError):
        await kept_user(database, role="emperor")


async def test_a_key_returns_as_saved(database: Database, ada: User) -> None:
    agent = an_agent(ada)
    key = a_key(ada, agent_id=agent.id, expires_at=LATER)
    other = a_key(ada)
    async with database.change() as change:
        await account_rows.agents.add(change.conn, agent, revision=change.revision)
        await account_rows.keys.add(change.conn, key, revision=change.revision)
        await account_rows.keys.add(change.conn, other, revision=change.revision)
    revoked = replace(key, revoked_at=LATER)
    async with database.change() as change:
        await account_rows.keys.save(change.conn, revoked, revision=change.revision)
    async with database.read() as conn:
        assert await account_rows.keys.get(conn, key.id) == revoked
        assert await account_rows.keys.get(conn, "nonsense") is None
        assert await account_rows.list_user_keys(conn, ada.id) == [revoked, other]
        assert await account_rows.list_user_keys(conn, new_id()) == []
        assert await account_rows.list_user_keys(conn, "nonsense") == []
        assert await account_rows.keys.list_changed(conn, 2) == [revoked]


async def test_the_valid_keys_of_admins_are_found(database: Database, ada: User) -> None:
    eve, bob = await kept_user(database, "eve", role="admin"), await kept_user(database, "bob", role="admin")
    agent = an_agent(eve)
    valid = [a_key(eve), a_key(eve, expires_at=LATER)]
    others = [
        a_key(eve, revoked_at=NOW),
        a_key(eve, expires_at=NOW),
        a_key(eve, agent_id=agent.id),
        a_key(bob),
        a_key(ada),
    ]
    async with database.change() as change:
        await account_rows.agents.add(change.conn, agent, revision=change.revision)
        await account_rows.users.save(change.conn, replace(bob, is_deleted=True), revision=change.revision)
        for key in (*valid, *others):
            await account_rows.keys.add(change.conn, key, revision=change.revision)
        found = await account_rows.list_admin_keys(change.conn, NOW)
    assert {key.id for key in found} == {key.id for key in valid}


async def test_two_keys_never_have_the_same_hash(database: Database, ada: User) -> None:
    with pytest.raises(IntegrityError):
        async with database.change() as change:
            await account_rows.keys.add(change.conn, a_key(ada, key_hash="same"), revision=change.revision)
            await account_rows.keys.add(change.conn, a_key(ada, key_hash="same"), revision=change.revision)


async def test_an_agent_returns_as_saved(database: Database, ada: User) -> None:
    agent = an_agent(ada, "Helper", tools=(new_id(), new_id()), description="Helps")
    async with database.change() as change:
        await account_rows.agents.add(change.conn, agent, revision=change.revision)
    async with database.read() as conn:
        assert await account_rows.agents.get(conn, agent.id) == agent
        assert await account_rows.agents.get(conn, "nonsense") is None
        assert await account_rows.find_agent_by_name(conn, ada.id, "HELPER") == agent
        assert await account_rows.find_agent_by_name(conn, new_id(), "Helper") is None
        assert await account_rows.find_agent_by_name(conn, "nonsense", "Helper") is None
    deleted = replace(agent, is_deleted=True, deleted_at=LATER, tools=())
    async with database.change() as change:
        await account_rows.agents.save(change.conn, deleted, revision=change.revision)
    async with database.read() as conn:
        assert await account_rows.agents.get(conn, agent.id) == deleted
        assert await account_rows.find_agent_by_name(conn, ada.id, "helper") is None
        assert await account_rows.agents.page(conn, limit=10) == []
        assert await account_rows.agents.list_changed(conn, 2) == [deleted]
        assert await account_rows.agents.list_changed(conn, 3) == []


async def test_an_agent_s_name_is_taken_for_its_owner_only(database: Database, ada: User) -> None:
    bob = await kept_user(database, "bob")
    hers, his = an_agent(ada, "Helper"), an_agent(bob, "helper")
    async with database.change() as change:
        await account_rows.agents.add(change.conn, hers, revision=change.revision)
        await account_rows.agents.add(change.conn, his, revision=change.revision)
    with pytest.raises(IntegrityError):
        async with database.change() as change:
            await account_rows.agents.add(change.conn, an_agent(ada, "hELPER"), revision=change.revision)
    async with database.read() as conn:
        assert await account_rows.agents.page(conn, limit=10) == [hers, his]
        assert await account_rows.agents.page(conn, after=hers.id, limit=10) == [his]
        assert await account_rows.agents.page(conn, bob.id, limit=10) == [his]


async def test_a_secret_returns_as_put_last(database: Database, ada: User) -> None:
    secret = a_secret(ada)
    removed = replace(secret, sealed=None, updated_at=LATER)
    async with database.change() as change:
        await account_rows.secrets.put(change.conn, secret, revision=change.revision)
    async with database.read() as conn:
        assert await account_rows.secrets.get(conn, secret.id) == secret
        assert await account_rows.secrets.get(conn, "nonsense") is None
        assert await account_rows.find_secret_by_name(conn, ada.id, "TOKEN") == secret
        assert await account_rows.find_secret_by_name(conn, ada.id, "token") is None
        assert await account_rows.find_secret_by_name(conn, "nonsense", "TOKEN") is None
        assert await account_rows.secrets.page(conn, ada.id, limit=10) == [secret]
        assert await account_rows.secrets.page(conn, new_id(), limit=10) == []
        assert await account_rows.secrets.page(conn, after=secret.id, limit=10) == []
    async with database.change() as change:
        await account_rows.secrets.put(change.conn, removed, revision=change.revision)
    async with database.read() as conn:
        assert await account_rows.find_secret_by_name(conn, ada.id, "TOKEN") == removed
        assert await account_rows.secrets.page(conn, limit=10) == []
        assert await account_rows.secrets.list_changed(conn, 2) == [removed]
        assert await account_rows.secrets.list_changed(conn, 3) == []


async def test_an_owner_has_one_secret_of_a_name(database: Database, ada: User) -> None:
    with pytest.raises(IntegrityError):
        async with database.change() as change:
            await account_rows.secrets.put(change.conn, a_secret(ada), revision=change.revision)
            await account_rows.secrets.put(change.conn, a_secret(ada), revision=change.revision)


async def test_what_was_never_added_cannot_be_saved(database: Database, ada: User) -> None:
    async with database.change() as change:
        with pytest.raises(LookupError):
            await account_rows.users.save(change.conn, a_user("bob"), revision=change.revision)
        with pytest.raises(LookupError):
            await account_rows.keys.save(change.conn, a_key(ada), revision=change.revision)
        with pytest.raises(LookupError):
            await account_rows.agents.save(change.conn, an_agent(ada), revision=change.revision)
