"""Multipart bodies, checked with an independent parser."""

from __future__ import annotations

import base64
import email
import email.policy
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.http.config import HttpConfig
from pegboard.kinds.http.request_template import HttpRequest, RequestTemplate
from pegboard.model.call_errors import InvalidArguments, Misconfigured


class Part(NamedTuple):
    name: str
    data: bytes
    filename: str | None = None
    media_type: str | None = None


def template(**config: Any) -> RequestTemplate:
    return RequestTemplate.of(
        HttpConfig(url="https://api.example.com/items", **{"method": "POST", "body_format": "multipart", **config}),
        None,
    )


def build_request(arguments: dict[str, Any], **config: Any) -> HttpRequest:
    return template(**config).fill(arguments)


def parts_of(request: HttpRequest) -> list[Part]:
    """Return the parts, parsed by the standard library's mail parser."""
    head = f"Content-Type: {request.headers['Content-Type']}\r\n\r\n".encode()
    message = email.message_from_bytes(head + (request.body or b""), policy=email.policy.HTTP)
    assert message.is_multipart(), "no multipart body"
    assert not message.defects
    found = []
    for part in message.iter_parts():
        assert not part.defects
        options = part["Content-Disposition"].params
        data = part.get_payload(decode=True)
        assert isinstance(data, bytes)
        media_type = part.get("Content-Type")
        found.append(Part(options["name"], data, options.get("filename"), media_type and str(media_type)))
    return found


def test_a_multipart_type_gets_a_new_boundary_each_time() -> None:
    form = template(content_type='multipart/mixed; boundary="mine"; x=1')
    types = {form.fill({"a": 1}).headers["Content-Type"] for _ in range(20)}
    assert len(types) == 20
    assert all(each.startswith("multipart/mixed; x=1; boundary=") and "mine" not in each for each in types)
    request = build_request({"a": 1}, headers={"Content-Type": "application/json"})
    assert request.headers["Content-Type"].startswith("multipart/form-data; boundary=")
    assert request.bare_headers["Content-Type"] == request.headers["Content-Type"]


def test_a_multipart_body_of_another_type_is_a_fault_of_the_config() -> None:
    with pytest.raises(Misconfigured, match=r"must be multipart/…, but is 'application/json'"):
        template(content_type="application/json")


def test_multipart_fields_files_and_objects_read_back_as_they_were() -> None:
    data = bytes(range(256))
    arguments = {
        "text": "grüße\r\n--x", "n": 1, "yes": True, "none": None, "many": ["a", 2, [3]], "object": {"a": [1]},
        "file": {"filename": "ü.bin", "content_type": "image/png", "base64": base64.b64encode(data).decode()},
        "note": {"filename": "n.txt", "text": "hi ü"},
        "bare": {"base64": ""},
        "files": [{"filename": "1", "text": "one"}, {"filename": "2", "text": "two"}],
    }  # fmt: skip
    request = build_request(arguments, wire_names={"n": "N-1"})
    assert parts_of(request) == [
        Part("text", "grüße\r\n--x".encode()),
        Part("N-1", b"1"),
        Part("yes", b"true"),
        Part("many", b"a"),
        Part("many", b"2"),
        Part("many", b"[3]", None, "application/json"),
        Part("object", b'{"a":[1]}', None, "application/json"),
        Part("file", data, "ü.bin", "image/png"),
        Part("note", "hi ü".encode(), "n.txt", 'text/plain; charset="utf-8"'),
        Part("bare", b"", "bare", "application/octet-stream"),
        Part("files", b"one", "1", 'text/plain; charset="utf-8"'),
        Part("files", b"two", "2", 'text/plain; charset="utf-8"'),
    ]


def test_part_types_and_styles_say_how_a_part_is_sent() -> None:
    request = build_request(
        {"j": "x", "csv": [1, 2], "xml": "<a/>", "list": [1], "any": "x", "f": {"text": "{}", "filename": "f.json"},
         "o": {"text": "no file"}, "img": {"base64": "AA=="}, "b": {"base64": "AA=="}, "s": [[1], 2],
         "own": {"base64": "AA==", "content_type": "a/b"}},
        part_types={"j": "application/json", "xml": "text/xml", "list": "application/x+json", "any": "image/*, a/b",
                    "f": "application/json", "o": "application/json", "b": "application/json", "img": "image/gif",
                    "own": "image/gif"},
        styles={"csv": {"style": "form", "explode": False}, "s": {"style": "json"}},
    )  # fmt: skip
    assert parts_of(request) == [
        Part("j", b'"x"', None, "application/json"),
        Part("csv", b"1,2"),
        Part("xml", b"<a/>", None, "text/xml"),
        Part("list", b"[1]", None, "application/x+json"),
        Part("any", b"x"),
        Part("f", b"{}", "f.json", "application/json"),
        Part("o", b'{"text":"no file"}', None, "application/json"),
        Part("img", b"\0", "img", "image/gif"),
        Part("b", b"\0", "b", "application/json"),
        Part("s", b"[[1],2]", None, "application/json"),
        Part("own", b"\0", "own", "a/b"),
    ]


FILE = {"filename": "x", "base64": "AA=="}


@pytest.mark.parametrize(
    ("value", "field", "says"),
    [
        ({**FILE, "base64": "no base64!"}, "f.base64", "must be base64"),
        ({**FILE, "base64": "ä"}, "f.base64", "must be base64"),
        ({**FILE, "base64": "AAA"}, "f.base64", "must be base64"),
        ({**FILE, "base64": 5}, "f.base64", "must be a string"),
        ({**FILE, "text": "x"}, "f", "both base64 and text"),
        ({**FILE, "filename": 'a"\r\nX-Evil: 1'}, "f.filename", "line break"),
        ({**FILE, "filename": "a\0b"}, "f.filename", "control character"),
        ({**FILE, "filename": "\ud800"}, "f.filename", "surrogate"),
        ({**FILE, "content_type": "a/b\r\nX-Evil: 1"}, "f.content_type", "media type"),
        ({**FILE, "content_type": "image"}, "f.content_type", "media type"),
        ({"filename": "x", "text": "\ud800"}, "f.text", "surrogate"),
    ],
)
def test_a_file_that_cannot_be_sent_is_refused_by_the_name_of_its_field(value: Any, field: str, says: str) -> None:
    with pytest.raises(InvalidArguments, match=says) as caught:
        build_request({"f": value})
    assert caught.value.problems[0].field == field


def test_base64_may_be_broken_into_lines() -> None:
    assert parts_of(build_request({"f": {"base64": "AAEC\r\n Aw=="}}))[0].data == b"\0\1\2\3"


def test_names_of_a_forms_fields_cannot_end_their_header() -> None:
    config: dict[str, Any] = {"body_param": "f"}
    assert parts_of(build_request({"f": {'a"; filename="evil': "x"}}, **config)) == [
        Part("a%22; filename=%22evil", b"x")
    ]
    with pytest.raises(InvalidArguments, match="line break"):
        build_request({"f": {"a\r\nX-Evil: 1": "x"}}, **config)
    assert build_request({"f": None}, **config).body is None
    with pytest.raises(InvalidArguments, match="Field 'f' must be an object"):
        build_request({"f": "x"}, **config)


TEXTS = st.text(st.characters(codec="utf-8"))
NAMES = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1)


@given(st.dictionaries(NAMES, TEXTS, min_size=1))
def test_whatever_text_is_in_a_multipart_form_reads_back(values: dict[str, str]) -> None:
    request = build_request(values)
    boundary = request.headers["Content-Type"].rpartition("boundary=")[2].encode()
    chunks = (request.body or b"").split(b"--" + boundary)
    assert chunks[-1] == b"--\r\n"
    assert [chunk.partition(b"\r\n\r\n")[2][:-2].decode() for chunk in chunks[1:-1]] == list(values.values())
