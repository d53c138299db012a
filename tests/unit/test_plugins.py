"""Installed packages that extend the board, correct and faulty ones."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pegboard.kinds.internal.functions import load_installed_handlers
from pegboard.testing import memory_board


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package with one valid handler and one that cannot be imported."""
    (tmp_path / "shop_tools.py").write_text("async def price(item: str) -> int:\n    return len(item)\n")
    info = tmp_path / "shop_tools-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shop-tools\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[pegboard.handlers]\nshop.price = shop_tools:price\nshop.broken = shop_nonesuch:price\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "shop_tools", raising=False)


@pytest.mark.usefixtures("package")
async def test_a_handler_of_an_installed_package_serves_internal_tools() -> None:
    async with memory_board() as board:
        tool = {"name": "price", "tool_type": "internal", "config": {"handler": "shop.price"}}
        await board.add({**tool, "input_schema": {"type": "object"}})
        assert (await board.call("price", {"item": "spoon"})).output == 5


@pytest.mark.usefixtures("package")
def test_a_faulty_package_is_logged_and_left_out(caplog: pytest.LogCaptureFixture) -> None:
    assert "shop.price" in load_installed_handlers()
    assert "shop.broken" not in load_installed_handlers()
    assert "plugin_left_out" in caplog.text
