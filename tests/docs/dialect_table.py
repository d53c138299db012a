"""The table of dialects and their features in the reference.

`python -m tests.docs.dialect_table` writes it into the page.
"""

from __future__ import annotations

from pathlib import Path

from pegboard.dialects.base import ALL_ABILITIES
from pegboard.dialects.catalog import BUILT_IN_DIALECTS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "dialects.md"
BEGIN, END = "<!-- dialects -->\n", "<!-- end of dialects -->"


def table() -> str:
    """Return one row per dialect, in the order of detection."""
    lines = [
        "| dialect | short | what it is | " + " | ".join(ALL_ABILITIES) + " |",
        "|---" * (3 + len(ALL_ABILITIES)) + "|",
    ]
    for dialect in BUILT_IN_DIALECTS:
        short = ", ".join(f"`{alias}`" for alias in dialect.aliases)
        about = (dialect.__doc__ or "").partition("\n")[0].rstrip(".").replace("|", "\\|")
        can = " | ".join("✓" if ability in dialect.abilities else "" for ability in ALL_ABILITIES)
        lines.append(f"| `{dialect.name}` | {short} | {about} | {can} |")
    return "\n".join(lines) + "\n"


def shown() -> str:
    """The table that is on the page."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]


def main() -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(text.replace(BEGIN + shown() + END, BEGIN + table() + END), encoding="utf-8")


if __name__ == "__main__":
    main()
