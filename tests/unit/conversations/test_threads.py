"""Threads: created, renamed, listed, deleted, and accessible only to their owner."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pegboard import Pegboard
from pegboard.conversations.stored_calls import check_title, derive_title
from pegboard.model.api_errors import Forbidden, Invalid, NotFound
from pegboard.model.filters import ExecutionFilter
from pegboard.model.ids import new_id
from pegboard.testing import member

UNKNOWN_ID = "01a1e2b8-bf6f-7e18-b857-ca6fd79fbe32"
HI = {"role": "user", "content": "hi"}


async def test_a_thread_is_there_until_it_is_deleted(stored_board: Pegboard) -> None:
    threads, me = stored_board.threads, stored_board.admin
    thread = await threads.create(me, "Plans")
    await threads.add(thread.id, me, HI)
    found = await threads.get(thread.id.upper(), me)
    assert (found.id, found.title, found.messages) == (thread.id, "Plans", 1)
    assert found.updated_at >= thread.updated_at
    renamed = await threads.rename(thread.id, me, "Other plans")
    assert (await threads.get(thread.id, me)) == renamed and renamed.title == "Other plans"
    await threads.delete(thread.id, me)
    for gone in (threads.get(thread.id, me), threads.delete(thread.id, me), threads.messages(thread.id, me)):
        with pytest.raises(NotFound, match="not found"):
            await gone


async def test_a_stored_message_makes_no_call(stored_board: Pegboard) -> None:
    ran = []

    @stored_board.tool
    async def delete_all() -> None:
        ran.append("delete_all")

    threads, me = stored_board.threads, stored_board.admin
    thread = await threads.create(me)
    call = {"id": "c1", "type": "function", "function": {"name": "delete_all", "arguments": "{}"}}
    await threads.add(thread.id, me, {"role": "assistant", "content": None, "tool_calls": [call]})
    page = await threads.messages(thread.id, me)
    assert [[kept["name"] for kept in message.tool_calls] for message in page.items] == [["delete_all"]]
    assert ran == []
    assert not (await stored_board.executions(ExecutionFilter())).items


async def test_a_thread_is_its_owner_s_alone(stored_board: Pegboard) -> None:
    threads, admin = stored_board.threads, stored_board.admin
    ada, bob = await member(stored_board, "ada"), await member(stored_board, "bob")
    thread = await threads.create(ada)
    await threads.add(thread.id, ada, HI)
    for stranger in (bob, admin):
        for refused in (
            threads.get(thread.id, stranger),
            threads.rename(thread.id, stranger, "mine"),
            threads.delete(thread.id, stranger),
            threads.add(thread.id, stranger, HI),
            threads.messages(thread.id, stranger),
            threads.history(thread.id, stranger, "openai_chat"),
        ):
            with pytest.raises(NotFound) as raised:
                await refused
            assert str(raised.value) == f"Thread '{thread.id}' not found"
        assert not (await threads.page(stranger)).items
    assert (await threads.get(thread.id, ada)).messages == 1


async def test_an_agent_s_key_uses_the_threads_of_that_agent_alone(stored_board: Pegboard) -> None:
    threads = stored_board.threads
    ada, bob = await member(stored_board, "ada"), await member(stored_board, "bob")
    robot, sibling, stranger = (replace(user, agent_id=new_id()) for user in (ada, ada, bob))
    of_user, of_robot = await threads.create(ada, "hers"), await threads.create(robot, "its")
    assert (of_user.agent_id, of_robot.agent_id) == (None, robot.agent_id)
    for caller, thread in ((robot, of_user), (sibling, of_user), (sibling, of_robot), (stranger, of_robot)):
        for unseen in (
            threads.get(thread.id, caller),
            threads.add(thread.id, caller, HI),
            threads.messages(thread.id, caller),
            threads.history(thread.id, caller, "openai_chat"),
            stored_board.run({"name": "echo"}, caller=caller, thread=thread.id),
            anext(stored_board.follow({"name": "echo"}, caller=caller, thread=thread.id)),
        ):
            with pytest.raises(NotFound, match=r"^Thread '[^']*' not found$"):
                await unseen
    for caller in (robot, sibling):
        for refused in (threads.rename(of_robot.id, caller, "mine"), threads.delete(of_robot.id, caller)):
            with pytest.raises(Forbidden, match="bound to an agent"):
                await refused
    await threads.add(of_robot.id, robot, HI)
    await stored_board.run({"name": "echo"}, caller=robot, thread=of_robot.id)
    listed = [[thread.id for thread in (await threads.page(who)).items] for who in (ada, robot, sibling)]
    assert listed == [[of_robot.id, of_user.id], [of_robot.id], []]
    assert await threads.get(of_robot.id, ada) == await threads.get(of_robot.id, robot)
    await threads.delete(of_robot.id, ada)
    assert (await threads.page(robot)).items == []


async def test_an_agent_s_key_does_not_watch_the_board(board: Pegboard) -> None:
    with pytest.raises(Forbidden, match="bound to an agent"):
        await anext(board.watch(caller=replace(board.admin, agent_id=new_id())))


@pytest.mark.parametrize("thread_id", ["", "nonsense", "\0", "0" * 36, "0" * 32, UNKNOWN_ID])
async def test_an_id_that_is_no_users_is_not_found(board: Pegboard, thread_id: str) -> None:
    with pytest.raises(NotFound, match=r"^Thread '[^']*' not found$"):
        await board.threads.add(thread_id, board.admin, HI)


async def test_threads_are_listed_latest_first_page_by_page(stored_board: Pegboard) -> None:
    threads, me = stored_board.threads, stored_board.admin
    made = [await threads.create(me, f"number {number}") for number in range(5)]
    await threads.add(made[1].id, me, HI)
    order = [made[1].id, made[4].id, made[3].id, made[2].id, made[0].id]
    seen: list[str] = []
    cursor = None
    while True:
        page = await threads.page(me, cursor=cursor, limit=2)
        seen += [thread.id for thread in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == order
    for wrong in ("nonsense", "WyJhIiwiYiJd"):
        with pytest.raises(Invalid, match="cursor"):
            await threads.page(me, cursor=wrong)


async def test_messages_are_read_page_by_page_oldest_first(stored_board: Pegboard) -> None:
    threads, me = stored_board.threads, stored_board.admin
    thread = await threads.create(me)
    await threads.add(thread.id, me, [{"role": "user", "content": str(number)} for number in range(5)])
    first = await threads.messages(thread.id, me, limit=2)
    second = await threads.messages(thread.id, me, cursor=first.next_cursor, limit=3)
    assert [message.content for message in (*first.items, *second.items)] == ["0", "1", "2", "3", "4"]
    assert first.next_cursor and second.next_cursor is None
    assert [message.position for message in second.items] == [2, 3, 4]


async def test_a_thread_is_called_after_what_its_user_says_first(board: Pegboard) -> None:
    threads, me = board.threads, board.admin
    thread = await threads.create(me)
    await threads.add(thread.id, me, {"role": "system", "content": "Be brief"})
    assert (await threads.get(thread.id, me)).title is None
    await threads.add(thread.id, me, {"role": "user", "content": "  How is\nthe weather?\x07 "})
    await threads.add(thread.id, me, {"role": "user", "content": "And tomorrow?"})
    assert (await threads.get(thread.id, me)).title == "How is the weather?"
    assert (await threads.rename(thread.id, me, None)).title is None
    await threads.add(thread.id, me, {"role": "user", "content": "Next week?"})
    assert (await threads.get(thread.id, me)).title == "Next week?"


def test_a_long_title_is_cut_after_a_word() -> None:
    assert derive_title("word " * 50) == "word " * 15 + "word…"
    assert derive_title("x" * 500) == "x" * 79 + "…"
    assert derive_title(" \n ") is None and derive_title(None) is None


@pytest.mark.parametrize("title", ["", " \n", "x" * 201, "x" * 10_000_000])
async def test_a_title_has_some_characters_and_not_too_many(board: Pegboard, title: str) -> None:
    with pytest.raises(Invalid, match="title: must have 1 to 200 characters"):
        await board.threads.create(board.admin, title)
    assert check_title("x" * 200) == "x" * 200


async def test_a_thread_that_is_full_says_so_and_takes_nothing(
    board: Pegboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pegboard.conversations.conversations.MAX_MESSAGES", 3)
    thread = await board.threads.create(board.admin)
    await board.threads.add(thread.id, board.admin, [HI, HI])
    with pytest.raises(Invalid, match="A thread has at most 3 messages; create another one"):
        await board.threads.add(thread.id, board.admin, [HI, HI])
    await board.threads.add(thread.id, board.admin, HI)
    assert (await board.threads.get(thread.id, board.admin)).messages == 3
