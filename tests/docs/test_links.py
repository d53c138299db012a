"""Links lead somewhere, and every page can be found."""

from __future__ import annotations

from pathlib import Path

import pytest

import pegboard
from tests.docs.pages import PAGES, ROOT, anchor_of, blocks_of, headings_of, links_of, text_of


@pytest.mark.parametrize("page", PAGES)
def test_every_internal_link_leads_to_a_file_and_a_heading(page: str) -> None:
    for link in links_of(page):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        assert target.exists(), f"{page} links to {link}"
        if anchor:
            target_path = str(target.resolve().relative_to(ROOT.resolve()))
            assert anchor in [anchor_of(heading) for heading in headings_of(target_path)], f"{page} links to {link}"


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = {
        line.strip()
        for page in ("docs/index.md", "docs/decisions/index.md")
        for block in blocks_of(page)
        if block.language == "{toctree}"
        for line in block.text.splitlines()
    }
    assert "[0-9]*" in listed
    pages = {str(Path(page).relative_to("docs").with_suffix("")) for page in PAGES if page.startswith("docs/")}
    unlisted = {page for page in pages - listed - {"index"} if not page.startswith("decisions/0")}
    assert not unlisted


def test_each_decision_has_a_number_of_its_own_and_its_heading_names_it() -> None:
    decisions = [Path(page) for page in PAGES if page.startswith("docs/decisions/0")]
    numbers = [int(page.name[:4]) for page in decisions]
    assert numbers == list(range(1, len(decisions) + 1))
    for number, page in zip(numbers, decisions, strict=True):
        assert headings_of(str(page))[0].startswith(f"{number}. "), page


def test_the_readme_links_to_every_page_for_users() -> None:
    pages = {page for page in PAGES if page.startswith(("docs/howto/", "docs/reference/"))}
    assert pages <= set(links_of("README.md"))


def test_the_changelog_has_the_present_version() -> None:
    assert f"\n## [{pegboard.__version__}]" in text_of("CHANGELOG.md")


def test_contributing_lists_the_targets_of_the_makefile() -> None:
    targets = [line.split(":")[0] for line in text_of("Makefile").splitlines() if ": " in line and " ## " in line]
    assert "serve" in targets
    for target in targets:
        assert f"`make {target}" in text_of("CONTRIBUTING.md")
