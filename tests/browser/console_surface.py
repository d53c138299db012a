"""The web console behind the interface of the other surfaces: what a person does in its pages."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.async_api import Locator, Page, expect

from pegboard.model.documents import read_yaml
from tests.board_surfaces import RequestRefused
from tests.browser.visit import Visit


class ConsoleSurface:
    """Registers, calls, reads, changes, removes and restores tools in the pages of the console."""

    name = "console"

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        # A refused check of a definition, and a name that is taken.
        visit.expected += ["422 (Unprocessable Entity)", "409 (Conflict)"]

    @property
    def _page(self) -> Page:
        return self._visit.page

    @property
    def _yaml(self) -> Locator:
        return self._page.get_by_label("Definition as YAML")

    async def create(self, definition: dict[str, Any]) -> dict[str, Any]:
        """Write the definition into the YAML of a new tool and register it; return what its page shows."""
        await self._visit.open(f"tools/new?kind={definition['tool_type']}")
        await expect(self._page.get_by_text("Valid: the server accepts it")).to_be_visible()
        await self._write(definition)
        await self._submit("Register")
        await expect(self._page.get_by_role("heading", name="Arguments")).to_be_visible()
        return await self.show(definition["name"])

    async def show(self, tool: str) -> dict[str, Any]:
        """Return the definition that the page of the tool shows."""
        await self._visit.open(f"tools/{tool}?tab=edit")
        await expect(self._yaml).to_contain_text("name:")
        (definition,) = read_yaml(await self._yaml.inner_text()).values
        return dict(definition)

    async def change(self, tool: str, patch: dict[str, Any]) -> dict[str, Any]:
        """Change fields of the definition and save it; return what the page shows."""
        definition = await self.show(tool) | patch
        await self._write(definition)
        await self._submit("Save")
        await expect(self._page.get_by_text(re.compile("Saved version"))).to_be_visible()
        return await self.show(str(definition["name"]))

    async def call(self, tool: str, arguments: Any = None) -> dict[str, Any]:
        """Call the tool with arguments as JSON; return the result of the plain dialect."""
        await self._visit.open(f"tools/{tool}?input=json")
        await self._page.get_by_label("Arguments as JSON").fill(json.dumps({} if arguments is None else arguments))
        await self._page.get_by_role("button", name="Call").click()
        result = self._page.get_by_role("region", name="Result", exact=True).first
        await result.get_by_text("Raw", exact=True).click()
        return dict(json.loads(await result.locator("pre").last.inner_text())["answer"])

    async def remove(self, tool: str) -> None:
        """Select the tool in the list and delete it."""
        await self._visit.open(f"tools?q={tool}")
        await self._page.get_by_role("checkbox", name=f"Select {tool}", exact=True).check()
        await self._page.get_by_role("button", name="Delete", exact=True).click()
        await expect(self._page.get_by_text("Deleted 1 tool")).to_be_visible()

    async def restore(self, tool_id: str) -> dict[str, Any]:
        """Restore the tool of this name in the list of deleted ones."""
        await self._visit.open(f"tools?state=deleted&q={tool_id}")
        await self._page.get_by_role("button", name="Restore", exact=True).click()
        await expect(self._page.get_by_text(f"Restored {tool_id}")).to_be_visible()
        return await self.show(tool_id)

    async def _write(self, definition: dict[str, Any]) -> None:
        # JSON is YAML.
        await self._yaml.fill(json.dumps(definition))

    async def _submit(self, action: str) -> None:
        """Press the button if the server accepts the definition; raise RequestRefused with its reasons if not."""
        status = self._page.get_by_role("region", name="YAML").get_by_role("status")
        await expect(status.get_by_text("Checking")).to_be_hidden()
        await expect(status.get_by_text("Valid").or_(status.get_by_role("listitem")).first).to_be_visible()
        reasons = await status.get_by_role("listitem").all_inner_texts()
        if reasons:
            raise RequestRefused("; ".join(reasons))
        await self._page.get_by_role("button", name=action, exact=True).click()
