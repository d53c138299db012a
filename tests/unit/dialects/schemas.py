"""Schemas of tools made up by hypothesis, each with arguments that fit and what a strict model sends to mean them."""

from __future__ import annotations

from typing import Any, NamedTuple

from hypothesis import strategies as st

ODD = ["a b", "a_b", "größe", "9", "", "x-y", "x.y", "$top", "name", "Name", "n" * 70]


class Made(NamedTuple):
    """A schema, a value that fits, and the value with null for each property that was left out."""

    schema: dict[str, Any]
    value: Any
    sent: Any


def _same(schema: dict[str, Any], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Made]:
    return values.map(lambda value: Made(schema, value, value))


LEAVES = st.one_of(
    _same({"type": "string", "description": "A text"}, st.text(max_size=3)),
    _same({"type": "string", "minLength": 1, "maxLength": 3, "default": "x"}, st.text(min_size=1, max_size=3)),
    _same({"type": "integer", "exclusiveMinimum": 0, "maximum": 9}, st.integers(1, 9)),
    _same({"type": "number"}, st.floats(-5, 5)),
    _same({"type": "boolean"}, st.booleans()),
    _same({"enum": ["a", "b", 3]}, st.sampled_from(["a", "b", 3])),
    _same({"const": "only"}, st.just("only")),
    _same({"type": ["string", "null"]}, st.sampled_from(["", None])),
    _same({"$ref": "#/definitions/shared", "description": "By reference"}, st.just({"kind": 1})).map(
        lambda made: made._replace(sent={"kind": 1, "note": None})
    ),
)
SHARED = {
    "type": "object",
    "properties": {"kind": {"type": "integer"}, "note": {"type": "string"}},
    "required": ["kind"],
}


@st.composite
def objects(draw: st.DrawFn, children: st.SearchStrategy[Made], tag: str | None = None) -> Made:
    """An object with some properties required, and some of the others left out."""
    properties, required, value, sent = {}, [], {}, {}
    for name in draw(st.lists(st.sampled_from(ODD), min_size=1, max_size=4, unique=True)):
        child = draw(children)
        properties[name] = child.schema
        is_required, is_given = draw(st.booleans()), draw(st.booleans())
        if is_required:
            required.append(name)
        if is_required or is_given:
            value[name], sent[name] = child.value, child.sent
        elif child.schema.get("type") == ["string", "null"]:
            value[name] = sent[name] = None  # left out and null are distinguished by no strict model
        else:
            sent[name] = None
    if tag is not None:
        properties["tag"] = {"const": tag}
        required.append("tag")
        value["tag"] = sent["tag"] = tag
    return Made({"type": "object", "properties": properties, "required": required}, value, sent)


def _lists(children: st.SearchStrategy[Made]) -> st.SearchStrategy[Made]:
    return children.map(
        lambda made: Made({"type": "array", "items": made.schema}, [made.value] * 2, [made.sent] * 2),
    )


@st.composite
def _choices(draw: st.DrawFn, children: st.SearchStrategy[Made]) -> Made:
    one, other = draw(objects(children, tag="one")), draw(objects(children, tag="other"))
    meant = draw(st.sampled_from([one, other]))
    word = draw(st.sampled_from(["anyOf", "oneOf"]))
    return Made({word: [one.schema, other.schema]}, meant.value, meant.sent)


def _inner(children: st.SearchStrategy[Made]) -> st.SearchStrategy[Made]:
    return st.one_of(objects(children), _lists(children), _choices(children))


def instances(strict: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What a model that is held to a strict schema may send."""
    if "anyOf" in strict:
        return st.one_of([instances(part) for part in strict["anyOf"]])
    if "enum" in strict:
        return st.sampled_from(strict["enum"])
    kinds = strict["type"] if isinstance(strict["type"], list) else [strict["type"]]
    leaves: dict[str, st.SearchStrategy[Any]] = {
        "string": st.text(min_size=1, max_size=3),
        "integer": st.integers(1, 9),
        "number": st.floats(-5, 5),
        "boolean": st.booleans(),
        "null": st.none(),
    }
    if kinds == ["object"]:
        return st.fixed_dictionaries({name: instances(child) for name, child in strict["properties"].items()})
    if kinds == ["array"]:
        return st.lists(instances(strict["items"]), max_size=2)
    return st.one_of([leaves[kind] for kind in kinds])


@st.composite
def tools(draw: st.DrawFn) -> Made:
    """The input schema of a tool with arguments that fit it."""
    made = draw(objects(st.recursive(LEAVES, _inner, max_leaves=6)))
    return made._replace(schema={**made.schema, "definitions": {"shared": SHARED}})
