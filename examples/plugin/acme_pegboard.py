"""A handler, a dialect and a kind of tool for a Pegboard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pegboard.extend import (
    Answer,
    AskedCall,
    Assembly,
    Dialect,
    Fault,
    KindSpec,
    Model,
    OpenTool,
    Prepared,
    ReadyCall,
    Registration,
    Services,
    Tool,
    Unreadable,
    read_config,
)


def slugify(text: str) -> str:
    """The text as it would stand in an address."""
    return "-".join(text.lower().split())


class Pairs(Dialect):
    """Calls as {"do": name, "with": arguments}, answers as [ok, value] pairs."""

    name = "pairs"
    keys = frozenset({"do"})

    def recognises(self, item: Any) -> bool:
        """Whether an object is a call."""
        return isinstance(item, dict) and isinstance(item.get("do"), str)

    def read(self, item: Any, into: Assembly) -> None:
        """Take in one call."""
        if not self.recognises(item):
            raise Unreadable("'pairs' wants objects {do, with}")
        into.call(item["do"], item.get("with"))

    def compose(self, calls: Sequence[AskedCall]) -> Any:
        """The calls as a model would make them."""
        return [{"do": call.name, "with": call.arguments} for call in calls]

    def render(self, answers: Sequence[Answer], *, many: bool) -> Any:
        """A pair for each answer."""
        results = [answer.result for answer in answers]
        return [[result.success, result.problem.message if result.problem else result.output] for result in results]

    def define(self, tool: Tool) -> Any:
        """How a model sees the tool."""
        return {"do": tool.name, "with": list(tool.input_schema.get("properties", {}))}


class TemplateConfig(Model):
    """The config of a template tool; unknown keys are refused."""

    template: str


class TemplateExecutor:
    """Runs tools of kind template: fills the arguments into a text."""

    def prepare(self, tool: OpenTool) -> Prepared:
        """Read the config once; the function it returns runs every call."""
        template = read_config(TemplateConfig, tool.config).template

        async def run(call: ReadyCall) -> Any:
            return {"text": template.format_map(call.arguments)}

        return Prepared(run, instant=True)

    async def close(self) -> None:
        """Nothing is held open."""


def make_executor(services: Services) -> TemplateExecutor:
    """The executor of one board."""
    return TemplateExecutor()


def check(registration: Registration) -> list[Fault]:
    """What the types of the config cannot express."""
    config: TemplateConfig = registration.config
    if "{" not in config.template:
        return [Fault("config.template", "has no {placeholder}")]
    return []


TEMPLATE = KindSpec(
    "template",
    TemplateConfig,
    make_executor,
    is_instant=True,
    has_effects=False,
    check=check,
)
