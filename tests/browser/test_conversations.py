"""Conversations: messages with their calls, the history for a provider, and the inspector of payloads."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.async_api import Page, expect

from pegboard.testing import calls_of
from tests.browser.visit import Visit

HOSTILE = "<script>alert(1)</script> \u202eevil\u200b"
PASTE = """(editor, text) => {
  const data = new DataTransfer()
  data.setData('text/plain', text)
  editor.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}))
}"""


def build_call(name: str, arguments: Any, identity: str) -> dict[str, Any]:
    """Return a call in a message of OpenAI."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": text}}


def build_message(*calls: dict[str, Any], text: str | None = None) -> dict[str, Any]:
    """Return a message of OpenAI with calls."""
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


async def store_thread(visit: Visit) -> str:
    """Store a conversation with a call that succeeds and one that fails, and return its id."""
    board, me = visit.board, visit.board.admin
    thread = await board.threads.create(me, "Sums of the month")
    await board.threads.add(thread.id, me, {"role": "user", "content": f"What is 1 + 2? {HOSTILE}"})
    calls = (build_call("math_eval", {"expression": "1 + 2"}, "c1"), build_call("math_eval", {"expression": "("}, "c2"))
    await board.run(build_message(*calls, text="Let me add that up."), thread=thread.id)
    return thread.id


async def paste(page: Page, text: str) -> None:
    """Paste a text into the inspector."""
    editor = page.get_by_label("Payload").and_(page.locator(".cm-content"))
    await editor.click()
    await page.keyboard.press("Control+a")
    await editor.evaluate(PASTE, text)


async def test_a_conversation_is_read_with_its_calls_renamed_and_deleted(admin: Visit) -> None:
    thread = await store_thread(admin)
    succeeded, failed = sorted(await calls_of(admin.board), key=lambda row: row.status != "succeeded")
    page = await admin.open("conversations")
    await expect(page.get_by_role("link", name="Sums of the month")).to_be_visible()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    messages = page.get_by_role("list", name="Messages")
    question = messages.get_by_role("article", name="Message of the user")
    await expect(question).to_contain_text("What is 1 + 2? <script>alert(1)</script> U+202EevilU+200B")
    answer = messages.get_by_role("article", name="Message of the assistant")
    await expect(answer.get_by_text("Succeeded", exact=True)).to_be_visible()
    await expect(answer.get_by_text("Failed", exact=True)).to_be_visible()
    await expect(answer.get_by_text(" ms")).to_have_count(2)
    await answer.get_by_role("button", name="Arguments and result").click()
    await expect(answer.get_by_role("region", name="Result as a table")).to_contain_text("3")
    await expect(answer.get_by_role("link", name="Its row in Executions").last).to_have_attribute(
        "href", f"/console/executions?open={failed.id}"
    )
    await answer.get_by_role("link", name="Its row in Executions").first.click()
    await expect(page.get_by_role("complementary", name="Execution")).to_contain_text(succeeded.id)
    await page.get_by_role("link", name="Its conversation").click()
    await page.get_by_role("button", name="Rename").press("Enter")
    await page.get_by_label("Title").fill("Sums")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text("“Sums”")
    await page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete the conversation “Sums”?")
    await expect(dialog.get_by_text("Its 2 messages are deleted")).to_be_visible()
    await dialog.get_by_role("button", name="Delete the conversation").click()
    await expect(page.get_by_text("No conversations yet")).to_be_visible()
    admin.expected.append("404 (Not Found)")
    await admin.open(f"conversations/{thread}")
    await expect(page.get_by_text("It may have been deleted, or it is not visible to you.")).to_be_visible()
    await page.get_by_role("link", name="All conversations").click()
    await expect(page.get_by_text("No conversations yet")).to_be_visible()


async def test_the_history_is_the_one_that_a_provider_takes(admin: Visit) -> None:
    thread = await store_thread(admin)
    page = await admin.open(f"conversations/{thread}?tab=history")
    for dialect in ("openai_chat", "anthropic_messages"):
        await page.get_by_label("Dialect", exact=True).select_option(dialect)
        await expect(page.get_by_role("region")).to_contain_text("tool_use" if dialect[0] == "a" else "tool_calls")
        history = await admin.board.threads.history(thread, admin.board.admin, dialect)
        await expect(page).to_have_url(re.compile(f"as={dialect}"))
        async with page.expect_download() as download:
            await page.get_by_role("button", name="Download").click()
        path = await (await download.value).path()
        assert json.loads(path.read_text(encoding="utf-8")) == history.items
    await admin.open(f"conversations/{thread}?tab=history&as=plain")
    await expect(page.get_by_text("it is a format of calls and not of conversations")).to_be_visible()


async def test_the_calls_of_a_payload_are_found_checked_and_run_on_request(admin: Visit) -> None:
    good, wrong = build_call("math_eval", {"expression": "6 * 7"}, "c1"), build_call("get_weather", {"city": 5}, "c2")
    page = await admin.open("conversations/inspector")
    await paste(page, json.dumps(build_message(good, wrong, build_call("mat_eval", {}, "c3"))))
    calls = page.get_by_role("region", name="Calls")
    await expect(calls.get_by_role("heading", name="3 calls in openai_chat")).to_be_visible()
    await expect(calls.get_by_role("listitem")).to_contain_text("city")
    await expect(calls.get_by_text("did you mean 'math_eval'?")).to_be_visible()
    await expect(calls.get_by_text("2 would be refused; the model gets the reason.")).to_be_visible()
    assert await calls_of(admin.board) == []
    await page.get_by_label("Answer as").select_option("anthropic_messages")
    await calls.get_by_role("button", name="Run 3 calls").click()
    results = calls.get_by_role("region", name="Results")
    await expect(results.get_by_role("heading", name="Results as anthropic_messages")).to_be_visible()
    await expect(results.get_by_role("region", name="Result text")).to_contain_text('"tool_use_id": "c1"')
    assert {row.surface for row in await calls_of(admin.board)} == {"console"}
    # The text of a model, a stream, and what no dialect reads.
    await paste(page, f'<tool_call>\n{{"name": "math_eval", "arguments": {{"x": "{HOSTILE}"}}}}\n</tool_call>')
    await expect(calls.get_by_role("heading", name="1 call in text_hermes")).to_be_visible()
    await expect(calls.get_by_text("U+202E").first).to_be_visible()
    admin.expected += ["422 (Unprocessable", "400 (Bad Request)"]
    await paste(page, '{\n  "tool_calls": [\n')
    await expect(page.get_by_text("Not valid JSON at line 3, column 1")).to_be_visible()
    await results.wait_for(state="detached")
    await calls.get_by_role("link", name="Their rows").wait_for(state="detached")


async def test_a_payload_of_a_mebibyte_is_read_on_request_and_the_page_stays_responsive(admin: Visit) -> None:
    page = await admin.open("conversations/inspector?from=openia")
    await expect(page.get_by_text("The dialect openia does not exist")).to_be_visible()
    await page.get_by_label("Read as").select_option("Detect the dialect")
    long = build_message(build_call("echo", {"text": "x" * 500_000}, "c1"), text="y" * 2**19)
    await paste(page, json.dumps(long))
    await page.get_by_role("button", name="Read the calls").click()
    await expect(page.get_by_role("heading", name="1 call in openai_chat")).to_be_visible()
    await page.get_by_role("button", name="Arguments", exact=True).click()
    await expect(page.get_by_text("The first 19.5 KiB of 488.3 KiB.")).to_be_visible()
    # A frame is drawn soon after an action.
    frame = "new Promise(done => requestAnimationFrame(start => requestAnimationFrame(end => done(end - start))))"
    assert await page.evaluate(frame) < 500
    assert await page.evaluate("document.querySelectorAll('*').length") < 2000


async def test_conversations_are_seen_by_their_owner_alone(visit: Visit) -> None:
    thread = await store_thread(visit)
    user = await visit.board.people.create_user("ann", "member", visit.board.admin)
    new = await visit.board.people.create_key(user.id, visit.board.admin)
    await visit.log_in(new.key)
    page = await visit.open("conversations?q=sums")
    await expect(page.get_by_text("No conversation matches this filter")).to_be_visible()
    await page.get_by_role("button", name="Remove the filter").click()
    await expect(page.get_by_text("No conversations yet")).to_be_visible()
    visit.expected.append("404 (Not Found)")
    await visit.open(f"conversations/{thread}")
    await expect(page.get_by_text("It may have been deleted, or it is not visible to you.")).to_be_visible()
