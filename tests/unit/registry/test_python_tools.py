"""Registration of python tools: their code is parsed, their libraries checked, their schema derived."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from dirty_equals import IsPartialDict

from pegboard import Pegboard, Refusal
from pegboard.kinds.python import compile_check, function_source
from pegboard.model.api_errors import Invalid
from pegboard.registry.tool_create import ToolCreate, ToolUpdate, read_definition
from pegboard.testing import NoSettings, memory_board

CODE = "def greet(name: str, times: int = 1): return name * times"
DERIVED = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "times": {"type": "integer", "default": 1}},
    "required": ["name"],
    "additionalProperties": False,
}
OTHER = "def greet(who): return who"
OTHERS = {"type": "object", "properties": {"who": {}}, "required": ["who"], "additionalProperties": False}


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with memory_board() as made:
        yield made


def python(code: str = CODE, *, fields: dict[str, Any] | None = None, **config: Any) -> dict[str, Any]:
    return {"name": "greet", "tool_type": "python", "config": {"code": code, **config}, **(fields or {})}


async def faults(board: Pegboard, definition: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(Invalid) as refused:
        await board.add(definition)
    return {fault.field: fault.message for fault in refused.value.faults}


class TestFaults:
    @pytest.mark.parametrize(
        ("config", "field", "words"),
        [
            ({"code": "def f(:"}, "config.code", "line 1: invalid syntax"),
            ({"code": "x = 1"}, "config.code", "no function at the top level"),
            ({"code": "def f(a, /): pass"}, "config.code", "by position only"),
            ({"code": "x = " + "-" * 10_000 + "1"}, "config.code", "nested too deeply"),
            ({"code": "#" * 300_000}, "config.code", "64 KiB"),
            ({"code": "def f(): pass\0"}, "config.code", "NUL"),
            ({"entrypoint": "main"}, "config.entrypoint", "no function 'main' in the code; there are: greet"),
            ({"libraries": ["numpy", "panda"]}, "config.libraries.1", "did you mean 'pandas'? allowed are: numpy"),
            ({"libraries": ["json"]}, "config.libraries.0", "standard library"),
            ({"code": "\nimport pandas\n" + CODE}, "config.code", "line 2: 'pandas' is neither in the standard"),
            ({"code": "import pandas\n" + CODE}, "config.code", "add 'pandas' to config.libraries"),
            ({"code": "import sklearn\n" + CODE}, "config.code", "add 'scikit-learn' to config.libraries"),
            ({"code": "import torch\n" + CODE}, "config.code", "can be added to config.libraries are: numpy"),
            ({"code": "import pegboard\n" + CODE}, "config.code", "'pegboard' is neither"),
            ({"code": "def f():\n from numpy import array\n"}, "config.code", "line 2: 'numpy'"),
        ],
    )
    async def test_each_is_reported_with_its_place_and_the_way_out(
        self, board: Pegboard, config: dict[str, Any], field: str, words: str
    ) -> None:
        found = await faults(board, python(**config))
        assert set(found) == {field}
        assert words in found[field]

    async def test_those_of_every_part_are_reported_together(self, board: Pegboard) -> None:
        broken = python("def f(:", libraries=["panda"], fields={"output_schema": {"type": "no"}})
        assert set(await faults(board, broken)) == {"config.code", "config.libraries.0", "output_schema"}

    @pytest.mark.parametrize(
        ("code", "libraries"),
        [
            ("import json, os.path, sqlite3, asyncio", []),
            ("import pandas, numpy, dateutil", ["pandas"]),
            ("from sklearn import svm\nimport scipy", ["scikit-learn"]),  # installed here or not
            ("try:\n import orjson\nexcept ImportError:\n orjson = None", []),
        ],
    )
    async def test_imports_of_declared_libraries_and_of_what_they_need_are_none(
        self, board: Pegboard, code: str, libraries: list[str]
    ) -> None:
        tool = await board.add(python(f"{code}\n{CODE}", libraries=libraries))
        assert tool.input_schema == DERIVED

    async def test_of_many_wrong_libraries_the_first_are_reported(self, board: Pegboard) -> None:
        found = await faults(board, python(libraries=[f"no-such-{place}" for place in range(50)]))
        assert list(found) == [f"config.libraries.{place}" for place in range(10)]

    async def test_a_board_may_allow_other_libraries_or_none(self) -> None:
        async with memory_board(python_libraries="") as board:
            found = await faults(board, python("import numpy\n" + CODE))
            assert "allows no libraries" in found["config.code"]
            assert "none is" in (await faults(board, python(libraries=["numpy"])))["config.libraries.0"]

    async def test_a_tool_whose_library_is_no_longer_allowed_can_still_be_switched_off(self, tmp_path: Path) -> None:
        database = f"sqlite:///{tmp_path}/board.db"
        async with Pegboard.open(database, settings=NoSettings(home=tmp_path)) as board:
            tool = await board.add(python("import numpy\n" + CODE, libraries=["numpy"]))
        stricter = NoSettings(home=tmp_path, python_libraries="pandas")
        async with Pegboard.open(database, settings=stricter) as board:
            assert (await board.call("greet", {"name": "x"})).problem.code == "misconfigured"  # type: ignore[union-attr]
            assert not (await board.tools.update("greet", {"is_active": False}, board.admin)).is_active
            with pytest.raises(Refusal, match="not allowed on this board"):
                await board.tools.update("greet", {"config": {**tool.config, "code": CODE}}, board.admin)


class TestSchemas:
    async def test_the_signature_is_the_schema_if_none_is_given(self, board: Pegboard) -> None:
        assert (await board.add(python())).input_schema == DERIVED
        problem = (await board.call("greet", {"name": 1})).problem
        assert problem is not None
        assert problem.code == "invalid_type"

    @pytest.mark.parametrize("given", [{"input_schema": None}, {}])
    async def test_null_is_none(self, board: Pegboard, given: dict[str, Any]) -> None:
        assert (await board.add(python(fields=given))).input_schema == DERIVED

    async def test_one_that_is_given_stays(self, board: Pegboard) -> None:
        tool = await board.add(python(fields={"input_schema": {"type": "object"}}))
        assert tool.input_schema == {"type": "object"}

    async def test_it_is_that_of_the_entrypoint(self, board: Pegboard) -> None:
        tool = await board.add(python("def a(x): pass\ndef b(y): pass", entrypoint="a"))
        assert tool.input_schema["required"] == ["x"]

    async def test_an_implementation_will_do(self, board: Pegboard) -> None:
        tool = await board.add({"name": "greet", "implementation": {"type": "python", "code": CODE}})
        assert tool.input_schema == DERIVED

    @pytest.mark.parametrize("config", [None, [], {}, {"code": 5}, {"code": CODE, "entrypoint": 5}])
    async def test_a_config_that_says_nothing_is_what_is_wrong(self, config: Any) -> None:
        async with memory_board() as board:
            with pytest.raises(Invalid) as refused:
                await board.add({"name": "greet", "tool_type": "python", "config": config})
            assert {fault.field.partition(".")[0] for fault in refused.value.faults} == {"config"}

    @pytest.mark.parametrize("kind", ["mock", "shell", "http", None, 5, [], "Python"])
    def test_other_kinds_need_one(self, kind: Any) -> None:
        with pytest.raises(Invalid) as refused:
            read_definition({"name": "x", "tool_type": kind, "config": {"code": CODE}})
        assert ("input_schema", "required") in [(fault.field, fault.message) for fault in refused.value.faults]

    def test_the_documented_form_says_so(self) -> None:
        assert "input_schema" not in ToolCreate.model_json_schema()["required"]
        assert ToolCreate.model_json_schema() == IsPartialDict(required=["name", "tool_type", "config"])
        assert "required" not in ToolUpdate.model_json_schema()


class TestChanges:
    async def changed(self, board: Pegboard, patch: dict[str, Any]) -> Any:
        return (await board.tools.update("greet", patch, board.admin)).input_schema

    async def test_a_schema_that_was_the_signature_follows_the_code(self, board: Pegboard) -> None:
        await board.add(python())
        assert await self.changed(board, {"config": {"code": OTHER}}) == OTHERS
        assert await self.changed(board, {"description": "x"}) == OTHERS
        two = "def a(x): pass\ndef b(y): pass"
        assert (await self.changed(board, {"config": {"code": two}}))["required"] == ["y"]
        assert (await self.changed(board, {"config": {"code": two, "entrypoint": "a"}}))["required"] == ["x"]

    async def test_one_that_a_user_wrote_stays_until_it_is_cleared(self, board: Pegboard) -> None:
        await board.add(python(fields={"input_schema": {"type": "object"}}))
        assert await self.changed(board, {"config": {"code": OTHER}}) == {"type": "object"}
        assert await self.changed(board, {"input_schema": None}) == OTHERS
        assert await self.changed(board, {"config": {"code": CODE}, "input_schema": {}}) == {}

    async def test_another_kind_keeps_what_the_signature_was(self, board: Pegboard) -> None:
        await board.add(python())
        mock = {"tool_type": "mock", "config": {"mock_response": 1}}
        assert await self.changed(board, mock) == DERIVED

    async def test_applying_the_same_definition_again_changes_nothing(self, board: Pegboard) -> None:
        await board.apply([python()])
        assert (await board.apply([python()])).unchanged == ["greet"]
        assert (await board.apply([python(OTHER)])).updated == {"greet": ["input_schema", "config"]}

    async def test_code_is_read_before_others_have_to_wait(
        self, board: Pegboard, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await board.add(python())
        is_writing: list[bool] = []
        change, compiled = board.database.change, compile_check.check_compiles

        @asynccontextmanager
        async def counted() -> AsyncIterator[Any]:
            async with change() as one:
                is_writing.append(True)
                yield one
                is_writing.clear()

        def checked(tree: Any) -> None:
            assert not is_writing
            seen.append(tree)
            compiled(tree)

        seen: list[Any] = []
        monkeypatch.setattr(board.database, "change", counted)
        monkeypatch.setattr(function_source, "check_compiles", checked)
        code = "def greet(before: str): return before"
        assert list((await self.changed(board, {"config": {"code": code}}))["properties"]) == ["before"]
        assert len(seen) == 1

    async def test_a_concurrent_change_of_another_user_is_kept(
        self, board: Pegboard, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await board.add(python())
        owned = board.tools.get_owned

        async def overtaken(ref: str, caller: Any) -> Any:
            found = await owned(ref, caller)
            monkeypatch.setattr(board.tools, "get_owned", owned)
            await board.tools.update(ref, {"description": "theirs"}, caller)
            return found

        monkeypatch.setattr(board.tools, "get_owned", overtaken)
        tool = await board.tools.update("greet", {"tags": ["ours"]}, board.admin)
        assert (tool.description, tool.tags, tool.version) == ("theirs", ("ours",), 3)
