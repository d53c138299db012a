from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.kinds.http.openapi.import_document import import_document
from pegboard.kinds.http.openapi.naming import (
    PropertyNames,
    assign_unique_names,
    make_openapi_source_tag,
    make_route_name,
)
from pegboard.kinds.import_names import make_valid_name, shorten_text
from pegboard.model.api_errors import Invalid
from pegboard.model.tool import check_name
from tests.unit.kinds.http.openapi.make_documents import SERVER, api, of


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("getPet", "getPet"),
        ("repos/list-for-user", "repos_list-for-user"),
        ("admin.apps.approve", "admin_apps_approve"),
        ("get /a (old)", "get_a_old"),
        ("2fa", "_2fa"),
        ("import", "import_"),
        ("None", "None_"),
        ("créer un élément", "creer_un_element"),
        ("_private_", "_private_"),
        ("-x", "x"),
        ("12345678-1234-1234-1234-123456789012", "_12345678-1234-1234-1234-123456789012"),
        ("abcdefab" * 4, "abcdefab" * 4 + "_"),
    ],
)
def test_an_operations_id_becomes_the_nearest_valid_name(given: str, name: str) -> None:
    assert make_valid_name(given) == name
    assert of({"operationId": given})["name"] == name


@given(st.text(max_size=400))
def test_any_text_becomes_a_valid_name(text: str) -> None:
    assert check_name(make_valid_name(text)) == make_valid_name(text)


def test_a_name_is_kept_whole_as_long_as_a_name_may_be() -> None:
    assert make_valid_name("n" * 255) == "n" * 255
    longer = make_valid_name("n" * 256)
    assert len(longer) <= 255
    assert longer != make_valid_name("n" * 257)


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("get", "/users/{id}", "get_users_by_id"),
        ("GET", "/", "get_root"),
        ("post", "/users/{user-id}/pets.json", "post_users_by_user_id_pets_json"),
        ("get", "/v1/{name}:cancel", "get_v1_by_name_cancel"),
        ("delete", "/a/{x}/{y}", "delete_a_by_x_by_y"),
        ("get", "/Ünïcode", "get_Unicode"),
        ("get", "/поиск", "get_root"),
    ],
)
def test_an_operation_without_an_id_is_named_after_its_route(method: str, path: str, name: str) -> None:
    assert make_route_name(method, path) == name


@pytest.mark.parametrize("given", [None, 5, "", "///", "получить"])
def test_an_id_that_names_nothing_counts_as_none(given: object) -> None:
    assert of({"operationId": given}, path="/users/{id}", method="get")["name"] == "get_users_by_id"


def test_a_prefix_is_put_before_the_name() -> None:
    found = import_document(api({"/a": {"get": {"operationId": "import"}}}), prefix="git_")
    assert found.definitions[0]["name"] == "git_import"


@pytest.mark.parametrize("prefix", ["a b", "1a", "é", "a.", "p" * 200])
def test_a_prefix_that_no_name_begins_with_is_refused(prefix: str) -> None:
    with pytest.raises(Invalid, match="prefix"):
        import_document(api({}), prefix=prefix)


def test_names_are_unique_without_regard_to_case_and_say_which_is_which() -> None:
    paths = {
        "/b": {"get": {"operationId": "List"}, "post": {"operationId": "list"}},
        "/a": {"get": {"operationId": "list"}},
        "/x-y": {"get": {}},
        "/x_y": {"get": {}},
    }
    found = import_document(api(paths))
    names = {}
    for definition in found.definitions:
        config = definition["config"]
        names[config["url"].removeprefix(SERVER) + config["method"]] = definition["name"]
    assert names["/aGET"] == "list"
    assert names["/bGET"] == "List_get_b"
    assert names["/bPOST"] == "list_post_b"
    assert names["/x-yGET"] == "get_x_y"
    assert names["/x_yGET"] == "get_x_y_get_x_y"


Wanted = list[tuple[str, str, str | None]]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["GET", "POST", "DELETE"]),
            st.sampled_from(["/a", "/A", "/a/{b}", "/a-b", "/a_b", "/{a}", "/"]),
            st.sampled_from([None, "x", "X", "x_get_a", "get_a", "get_a_get_a", "y" * 255]),
        ),
        unique_by=lambda each: each[:2],
    ),
    st.randoms(use_true_random=False),
)
def test_names_are_unique_and_do_not_depend_on_the_order(wanted: Wanted, shuffle: random.Random) -> None:
    names = assign_unique_names(wanted, "p_")
    assert len({name.lower() for name in names.values()}) == len(wanted)
    for name in names.values():
        check_name(name)
    other = list(wanted)
    shuffle.shuffle(other)
    assert assign_unique_names(other, "p_") == names


def test_names_stay_when_other_operations_come_and_go() -> None:
    some: Wanted = [("GET", "/a", "list"), ("GET", "/b", "list"), ("GET", "/c", None), ("GET", "/d", "LIST")]
    before = assign_unique_names(some, "")
    after = assign_unique_names([*some, ("POST", "/e", "list"), ("GET", "/f", None)], "")
    assert {route: after[route] for route in before} == before
    fewer = assign_unique_names([some[0], some[3]], "")
    assert fewer == {route: before[route] for route in fewer}


def test_names_do_not_depend_on_what_is_included() -> None:
    paths = {"/a": {"get": {"operationId": "x"}}, "/b": {"get": {"operationId": "x"}}}
    [only] = import_document(api(paths), include=["GET /b"]).definitions
    assert only["name"] == "x_get_b"


def test_a_property_is_called_something_free() -> None:
    names = PropertyNames()
    wanted = [("a", "query"), ("a", "query"), ("query_a_3", "path"), ("a", "query"), ("a", "header"), ("a!", "query")]
    taken = [names.take(*each) for each in wanted]
    assert taken == ["a", "query_a", "query_a_3", "query_a_4", "header_a", "query_a_5"]
    assert [len(names.take("a" * 64, "query")) for _ in range(3)] == [64] * 3


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "a!", "query_a_3", "b" * 64, "b" * 63 + "c", ""]), st.sampled_from(["query", "path"])
        )
    )
)
def test_no_two_properties_are_called_alike(wanted: list[tuple[str, str]]) -> None:
    names = PropertyNames()
    taken = [names.take(*each) for each in wanted]
    assert len(set(taken)) == len(wanted)
    assert all(0 < len(name) <= 64 for name in taken)


@pytest.mark.parametrize(
    ("title", "tag"),
    [
        ("Slack Web API", "openapi:slack-web-api"),
        ("", "openapi:api"),
        ("Größe 2!", "openapi:größe-2"),
        ("x" * 99, "openapi:" + "x" * 56),
    ],
)
def test_the_source_is_a_tag(title: str, tag: str) -> None:
    assert make_openapi_source_tag(title) == tag


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("short", "short"),
        ("One two three. Four five six seven.", "One two three. …"),
        ("A first paragraph.\n\nAnother one that is long.", "A first paragraph. …"),
        ("word " * 10, "word word word word…"),
        ("x" * 30, "x" * 22 + "…"),
    ],
)
def test_texts_are_cut_where_a_reader_would(text: str, cut: str) -> None:
    assert shorten_text(text, 24) == cut


@given(st.text(max_size=300), st.integers(10, 100))
def test_a_cut_text_is_never_longer_than_asked(text: str, length: int) -> None:
    assert len(shorten_text(text, length)) <= length
