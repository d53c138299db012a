"""Documents that would take much time or memory: each import ends soon, with an error."""

from __future__ import annotations

from typing import Any

import pytest

from pegboard.kinds.http.openapi import api_operations, shared_schemas
from pegboard.kinds.http.openapi import import_document as importing
from pegboard.kinds.http.openapi.convert_schema import SchemaConverter
from pegboard.kinds.http.openapi.document_references import DocumentReferences
from pegboard.kinds.http.openapi.import_document import import_document, read_document
from pegboard.kinds.http.openapi.import_pace import ImportProgress
from pegboard.kinds.http.openapi.shared_schemas import SharedSchemas, measure_schema
from pegboard.model.api_errors import Invalid
from tests.function_calls import calls_in
from tests.unit.kinds.http.openapi.make_documents import Json, api, body, reason, ref, shop, swagger


def wide(fields: int) -> Json:
    inner = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}
    return {"type": "object", "properties": {f"p{n}": inner for n in range(fields)}}


def shared(item: Json, paths: int) -> Json:
    return api({f"/x{n}": ref("P", "pathItems") for n in range(paths)}, components={"pathItems": {"P": item}})


def cost(document: Json) -> int:
    return calls_in(lambda: import_document(document))


def query(names: int) -> list[Json]:
    """Return parameters whose names all become `a` in plain letters."""
    return [{"name": f"a{chr(0x4E00 + n)}", "in": "query"} for n in range(names)]


def test_texts_that_aliases_multiply_are_refused() -> None:
    aliases = ",".join(["*a"] * 5000)
    with pytest.raises(Invalid, match="in line 2: more than 16,000,000 characters, aliases counted in full"):
        read_document(f"a: &a {'x' * 1_000_000}\nopenapi: [{aliases}]")


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (["x" * 1_000_000] * 5000, "more than 128,000,000 characters"),
        ([{"k" * 1_000_000: 1}] * 5000, "more than 128,000,000 characters"),
        ([[["x"] * 1_000_000] * 1_000_000], "more than 5,000,000 values"),
    ],
)
def test_what_an_object_holds_many_times_is_counted_each_time(held: Any, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        import_document(api({}, **{"x-held": held}))


def test_an_operation_of_too_many_parameters_is_left_out() -> None:
    assert "it has 1,001 parameters, and a tool takes at most 1,000" in reason(
        api({"/x": {"parameters": query(501), "get": {"parameters": query(500)}}})
    )
    path = "/" + "".join(f"{{p{n}}}" for n in range(1001))
    assert "more than 1,000 placeholders" in reason(api({path: {"get": {}}}))


def test_a_body_of_too_many_fields_is_one_parameter() -> None:
    fields = {"type": "object", "properties": {f"p{n}": {} for n in range(1001)}}
    required = {"type": "object", "properties": {"a": {}}, "required": [f"p{n}" for n in range(1001)]}
    for schema in (fields, required):
        [definition] = import_document(api({"/x": {"post": body(schema)}})).definitions
        assert definition["config"]["body_param"] == "body"


def test_a_thousand_parameters_that_want_one_name_cost_little_more_than_others() -> None:
    [definition] = import_document(api({"/x": {"get": {"parameters": query(1000)}}})).definitions
    names = list(definition["input_schema"]["properties"])
    assert (names[:3], names[-1]) == (["a", "query_a", "query_a_3"], "query_a_1000")


@pytest.mark.parametrize("place", ["body", "parameter", "old body", "old parameter"])
def test_what_many_paths_share_is_measured_once(place: str) -> None:
    parameter = {"name": "q", "in": "query", "schema": wide(3400)}
    old = {"name": "q", "in": "query", "type": "array", "items": wide(3400)}

    def document(paths: int) -> Json:
        if place == "body":
            return shared({"post": body(wide(3400))}, paths)
        if place == "parameter":
            return shared({"get": {"parameters": [parameter]}}, paths)
        item = {"post": {"parameters": [{**parameter, "in": "body"} if place == "old body" else old]}}
        return swagger({f"/x{n}": {"$ref": "#/x-item"} for n in range(paths)}, **{"x-item": item})

    assert cost(document(50)) < 2 * cost(document(1)), "fifty paths should cost about as much as one"


def test_what_is_measured_by_parts_is_as_if_it_were_measured_whole() -> None:
    schema: Json = {
        "type": "object",
        "properties": {
            "ä": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
            "b": {"properties": {"c": {"$ref": "#/$defs/C"}}, "additionalProperties": {"$ref": "#/$defs/D"}},
            "d": True,
        },
        "required": ["b"],
        "additionalProperties": {"$ref": "#/$defs/E", "description": "x" * 2000},
    }
    parts = SharedSchemas(SchemaConverter(DocumentReferences({}), is_old=False))
    for _ in range(2):
        assert parts.start(schema) == measure_schema(schema)


def test_what_is_measured_again_too_often_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_schemas, "MAX_MEASURED_BYTES", 5_000)
    large = {"requestBody": {**ref("B", "requestBodies"), "description": "Its own"}}
    bodies = {"requestBodies": {"B": body({"enum": ["x" * 2000]})["requestBody"]}}
    found = import_document(api({f"/x{n}": {"post": large} for n in range(5)}, components=bodies))
    assert [each["name"] for each in found.definitions] == ["post_x0", "post_x1", "post_x2"]
    assert all(each.reason.endswith("select fewer operations with include") for each in found.left_out)


def test_parts_of_an_allof_that_are_only_read_cost_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def document(parts: int) -> Json:
        every = [{"properties": {f"a{n}": {"readOnly": True}}} for n in range(parts)]
        return api({"/x": {"post": body({"allOf": every})}})

    assert cost(document(1600)) < 2 * 16 * cost(document(100))
    unions: list[int] = []

    class Counted(frozenset[str]):
        def __ror__(self, other: frozenset[Any]) -> frozenset[Any]:
            unions.append(len(self))
            return other.union(self)

    listed = SchemaConverter.list_read_only
    monkeypatch.setattr(SchemaConverter, "list_read_only", lambda *given: Counted(listed(*given)))
    import_document(document(100))
    assert unions == [100], "one set of names for all parts"


def test_more_notes_than_anyone_reads_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "MAX_NOTES", 2)
    odd = [{"name": f"a{n}", "in": "nowhere"} for n in range(5)]
    found = import_document(api({"/x": {"get": {"parameters": odd}}}))
    assert len(found.left_out) == 3
    assert found.left_out[-1].reason.startswith("without 3 more of its parts")


def test_a_document_of_more_operations_than_can_be_named_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_operations, "MAX_FOUND_OPERATIONS", 3)
    with pytest.raises(Invalid, match="more than 3 operations"):
        import_document(shared({"get": {}, "post": {}}, 2), include=["get_x0"])


def test_an_import_that_takes_too_long_ends() -> None:
    with pytest.raises(Invalid, match=r"takes too long, more than 0\.05 s; choose fewer operations with include"):
        import_document(shop(2000), seconds=0.05)
    with pytest.raises(Invalid, match="takes too long, more than 0 s"):
        read_document("openapi: 3.1.0", seconds=0)


def test_a_caller_who_waits_can_hear_of_it_at_each_step_of_one_operation_that_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pegboard.kinds.http.openapi.import_pace.PROGRESS_INTERVAL_SECONDS", 0.0)
    received: list[tuple[int, int]] = []
    document = api({"/x": {"post": body(wide(2000))}, "/y": {"get": {}}})
    import_document(document, on_progress=lambda done, total: received.append((done, total)))
    assert received[-1] == (2, 2)
    assert received.index((1, 2)) > 2000 * 3, "once for each schema at least"


def test_the_progress_callback_may_end_the_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard.kinds.http.openapi.import_pace.PROGRESS_INTERVAL_SECONDS", 0.0)

    def stop(done: int, total: int) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        read_document("openapi: 3.1.0", on_progress=stop)


def test_a_pace_without_an_end_only_reports() -> None:
    received: list[tuple[int, int]] = []
    pace = ImportProgress(on_progress=lambda done, total: received.append((done, total)))
    pace.report_progress(1, 2)
    pace.beat()
    assert received == [(1, 2)]
