"""The Markdown pages of the repository, and the blocks, tables and links in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = tuple(
    str(path.relative_to(ROOT))
    for path in [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    if "_build" not in path.parts
)

_FENCE = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```([\w{}]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, the comment before it, and the output shown after it."""

    page: str
    number: int
    language: str
    text: str
    note: str
    output: str | None

    @property
    def runs(self) -> bool:
        """Return True if the block is to be run."""
        return not self.note.startswith("not run: ")

    @property
    def file(self) -> str | None:
        """The name of the file that the block shows, or None."""
        return self.note.removeprefix("file: ") if self.note.startswith("file: ") else None

    def __str__(self) -> str:
        return f"{self.page}-{self.number}"


def text_of(page: str) -> str:
    """Return the text of the page."""
    return (ROOT / page).read_text(encoding="utf-8")


def prose_of(page: str) -> str:
    """Return the page without its blocks."""
    return _FENCE.sub("", text_of(page))


def blocks_of(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = text_of(page)
    found = list(_FENCE.finditer(text))
    blocks = []
    for number, match in enumerate(found, start=1):
        after = found[number] if number < len(found) else None
        shown = after is not None and not text[match.end() : after.start()].strip() and not after[1]
        output = after[3] if after is not None and shown and after[2] in ("text", "json") else None
        blocks.append(Block(page, number, match[2], match[3], match[1] or "", output))
    return blocks


def all_blocks(*languages: str) -> list[Block]:
    """The blocks in these languages on all pages."""
    return [block for page in PAGES for block in blocks_of(page) if block.language in languages]


def section(page: str, heading: str) -> str:
    """The text under a heading, up to the next of the same level or above."""
    text = prose_of(page)
    headings = list(_HEADING.finditer(text))
    for place, match in enumerate(headings):
        if match[2] == heading:
            after = [other.start() for other in headings[place + 1 :] if len(other[1]) <= len(match[1])]
            return text[match.end() : after[0] if after else len(text)]
    raise LookupError(f"{page} has no heading '{heading}'")


def headings_of(page: str) -> list[str]:
    """The headings of a page."""
    return [match[2] for match in _HEADING.finditer(prose_of(page))]


def rows_of(text: str) -> list[list[str]]:
    """The rows of every table in the text, without headers, as cells."""
    rows: list[list[str]] = []
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if not line.startswith("|") or set(line) <= set("|-: "):
            continue
        if place + 1 < len(lines) and lines[place + 1].startswith("|--"):
            continue
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return [[cell.strip("| ") for cell in row] for row in rows]


def codes_in(cell: str) -> list[str]:
    """The texts in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def links_of(page: str) -> list[str]:
    """Return the targets of the page's links."""
    return _LINK.findall(prose_of(page))


def anchor_of(heading: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
