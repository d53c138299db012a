"""The pictures of the web console."""

from __future__ import annotations

import re

import pytest

from tests.browser.screenshots import FOLDER, MAX_BYTES, PICTURES, SCHEMES
from tests.docs.pages import PAGES, ROOT, text_of

FILES = {f"{picture.name}-{scheme}.png" for picture in PICTURES for scheme in SCHEMES}
_MARKDOWN_IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
_HTML_IMAGE = re.compile(r'<img src="([^"]+)"[^>]* alt="([^"]*)"')


def list_images(page: str) -> list[tuple[str, str]]:
    """Return the path and the alternative text of each image of a page."""
    text = text_of(page)
    found = [(path, alt) for alt, path in _MARKDOWN_IMAGE.findall(text)]
    return found + _HTML_IMAGE.findall(text)


def test_the_pictures_are_those_that_make_screenshots_writes_and_are_small() -> None:
    paths = list(FOLDER.iterdir())
    assert {path.name for path in paths} == FILES
    for path in paths:
        assert path.stat().st_size < MAX_BYTES, path.name


@pytest.mark.parametrize("page", PAGES)
def test_every_image_of_a_page_exists_and_has_an_alternative_text(page: str) -> None:
    for path, alt in list_images(page):
        assert ((ROOT / page).parent / path).is_file(), path
        assert len(alt) > 10, path


def test_the_readme_shows_three_pages_before_its_first_heading() -> None:
    above = text_of("README.md").split("\n## ")[0]
    assert len(_HTML_IMAGE.findall(above)) == 3


def test_every_page_of_the_console_is_shown_in_its_guide() -> None:
    shown = {path.rpartition("/")[2] for path, _ in list_images("docs/howto/console.md")}
    assert {f"{picture.name}-light.png" for picture in PICTURES} <= shown
