"""What shipped profiles write otherwise: put right with a warning, an error when strict; 2018."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gateway.config.settings import SHIPPED_PROFILES
from jsap import JsapError, Profile, load_profile
from jsap.endpoints import Endpoint
from jsap.file_format import Method
from jsap.schema import json_schema
from jsap.template import Graphs

ALL = {"sparql": "SELECT * { ?s ?p ?o }"}


@pytest.mark.parametrize(
    ("members", "warning"),
    [
        ({"host": 127}, "host: write it as a text"),
        ({"graphs": {"using_graph_uri": "urn:g"}}, "graphs.using_graph_uri: write a list of texts"),
        (
            {"queries": {"Q": {**ALL, "graphs": {"named-graph-uri": "urn:g"}}}},
            "queries.Q.graphs.named-graph-uri: write a list of texts",
        ),
        ({"oauth": {"expires": 7}}, "oauth.expires: write it as a text"),
        (
            {"queries": {"Q": {**ALL, "forcedBindings": {"s": {"type": "uri", "value": 7}}}}},
            "queries.Q.forcedBindings.s.value: write it as a text",
        ),
        (
            {"queries": {"Q": {**ALL, "forcedBindings": {"x": {"type": "uri"}}}}},
            "queries.Q.forcedBindings.x: ?x does not occur",
        ),
    ],
)
def test_deviation_is_a_warning_or_when_strict_an_error(
    members: Mapping[str, object], warning: str
) -> None:
    assert Profile.parse(members).warnings[0] == warning
    with pytest.raises(JsapError) as caught:
        Profile.parse(members, strict=True)
    assert warning in str(caught.value)


def test_a_list_that_was_one_text_and_a_host_that_was_a_number_are_used() -> None:
    profile = Profile.parse({"host": 10, "graphs": {"default_graph_uri": "urn:g"}})
    assert profile.host == "10"
    assert profile.graphs == Graphs(("urn:g",))


def test_a_profile_as_jsap_wants_it_is_strict() -> None:
    members = {"host": "h", "graphs": {"default-graph-uri": ["urn:g"]}, "queries": {"ALL": ALL}}
    assert Profile.parse(members, strict=True).warnings == ()


OF_2018: dict[str, Any] = {
    "parameters": {
        "host": "old.example",
        "ports": {"http": 8000, "https": 8443, "ws": 9000, "wss": 9443},
        "paths": {
            "query": "/query",
            "update": "/update",
            "subscribe": "/subscribe",
            "register": "/oauth/register",
            "tokenRequest": "/oauth/token",
            "securePath": "/secure",
        },
        "methods": {"query": "POST", "update": "URL_ENCODED_POST"},
        "formats": {"query": "JSON", "update": "HTML"},
        "security": {"client_id": "encrypted", "jwt": "encrypted"},
    },
    "namespaces": {"a": "urn:a:"},
    "updates": {"U": {"id": "U", "sparql": "INSERT DATA { a:a a:b 1 }"}},
    "queries": {"Q": {"id": "Q", "sparql": "SELECT * { ?s a:b ?o }"}},
}


def test_the_form_of_2018_is_converted() -> None:
    profile = Profile.parse(OF_2018)
    assert profile.warnings == ("parameters: the form of 2018; converted",)
    assert profile.host == "old.example"
    assert profile.endpoints.update("U") == Endpoint(
        "http://old.example:8000/update", Method.URL_ENCODED_POST, "HTML"
    )
    assert profile.endpoints.query("Q").url == "http://old.example:8000/query"
    assert profile.endpoints.subscribe("Q").url == "ws://old.example:9000/subscribe"
    assert profile.sparql11seprotocol.channels["wss"].path == "/secure/subscribe"
    assert profile.oauth.token_url == "https://old.example:8443/oauth/token"
    assert profile.queries["Q"].text.startswith("PREFIX a: <urn:a:>")


def test_the_form_of_2018_without_plain_ports_is_secure() -> None:
    parameters = {**OF_2018["parameters"], "ports": {"https": 8443, "wss": 9443}}
    profile = Profile.parse({**OF_2018, "parameters": parameters})
    assert profile.endpoints.query("Q").url == "https://old.example:8443/secure/query"
    assert profile.endpoints.subscribe("Q").url == "wss://old.example:9443/secure/subscribe"


def test_members_of_today_win_over_those_of_2018_and_other_parameters_are_free() -> None:
    assert Profile.parse({**OF_2018, "host": "new.example"}).host == "new.example"
    assert Profile.parse({"parameters": {"speed": 1}, "host": "h"}).warnings == ()
    assert Profile.parse({"parameters": {"host": "h", "updates": 3}, "updates": {}}).host == "h"


# JSON Schema


def test_the_schema_takes_what_ships_and_both_spellings() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    paths = sorted(SHIPPED_PROFILES.glob("*.jsap"))
    assert len(paths) >= 2
    for path in paths:
        check.validate(json.loads(path.read_text(encoding="utf-8")))
        load_profile(path, strict=True)
    for members in (
        {"#include": ["a.jsap"], "graphs": {"default_graph_uri": ["urn:g"]}},
        {"include": ["a.jsap"], "graphs": {"default-graph-uri": ["urn:g"]}},
    ):
        check.validate(members)


@pytest.mark.parametrize(
    "members",
    [
        {"host": 7},
        {"include": "a.jsap"},
        {"graphs": {"default_graph_uri": "urn:g"}},
        {"queries": {"Q": {}}},
        {"updates": {"U": {**ALL, "forcedBindings": {"x": {"type": "litteral"}}}}},
        {"sparql11protocol": {"query": {"method": "PUT"}}},
    ],
)
def test_the_schema_refuses_what_is_no_jsap(members: Mapping[str, object]) -> None:
    assert not jsonschema.Draft202012Validator(json_schema()).is_valid(members)


# included from elsewhere


def included(tmp_path: Path, name: str, **pages: object) -> Profile:
    own = tmp_path / "own.jsap"
    own.write_text(json.dumps({"host": "own", "include": [name]}), encoding="utf-8")

    def fetch(url: str) -> str:
        asked.append(url)
        try:
            return json.dumps(pages[url.rpartition("/")[2]])
        except KeyError:
            raise OSError(f"{url} is not there") from None

    asked.clear()
    return load_profile(own, fetch=fetch, hosts=frozenset({"good.example"}))


asked: list[str] = []


def test_an_included_url_is_fetched_from_a_listed_host(tmp_path: Path) -> None:
    pages = {"a": {"include": ["b"], "host": "a"}, "b": {"queries": {"ALL": ALL}}}
    profile = included(tmp_path, "https://good.example/x/a", **pages)
    assert profile.host == "a"
    assert "ALL" in profile.queries
    assert asked == ["https://good.example/x/a", "https://good.example/x/b"]


@pytest.mark.parametrize(
    ("name", "pages", "told"),
    [
        ("http://evil.example/a", {}, "the host evil.example is not allowed"),
        ("http://good.example/a", {"a": {"include": ["//evil.example/a"]}}, "evil.example is not"),
        ("http://good.example/a", {"a": {"include": ["file:///etc/passwd"]}}, "file: is no scheme"),
        ("ftp://good.example/a", {}, "ftp: is no scheme"),
        ("http://good.example/a", {"a": {"include": ["a#again"]}}, "a#again includes itself"),
        ("http://good.example/a", {}, "a is not there"),
        ("http://[good.example/a", {}, "cannot be read"),
        ("a\0b", {}, "cannot be read"),
        ("http://good.example/a", {"a": {"queries": 3}}, "queries: not an object"),
    ],
)
def test_an_include_from_elsewhere_is_refused(
    tmp_path: Path, name: str, pages: Mapping[str, object], told: str
) -> None:
    with pytest.raises(JsapError) as caught:
        included(tmp_path, name, **pages)
    assert told in str(caught.value)
    assert not any("evil" in url or "passwd" in url for url in asked)


def test_without_fetch_nothing_is_asked(tmp_path: Path) -> None:
    own = tmp_path / "own.jsap"
    own.write_text('{"include": ["http://good.example/a"]}', encoding="utf-8")
    with pytest.raises(JsapError, match=r"include\[0\]: the host good.example is not allowed"):
        load_profile(own)
    with pytest.raises(JsapError, match="nothing is fetched"):
        load_profile(own, hosts=frozenset({"good.example"}))


def test_a_file_uri_in_a_local_profile_names_a_file(tmp_path: Path) -> None:
    part = tmp_path / "a part.jsap"
    part.write_text('{"host": "part"}', encoding="utf-8")
    own = tmp_path / "own.jsap"
    own.write_text(json.dumps({"include": [part.as_uri()]}), encoding="utf-8")
    assert load_profile(own).host == "part"


def test_files_that_include_each_other_twice_over_end(tmp_path: Path) -> None:
    for number in range(12):
        names = [f"{number + 1}.jsap"] * 2 if number < 11 else []
        (tmp_path / f"{number}.jsap").write_text(json.dumps({"include": names}), encoding="utf-8")
    with pytest.raises(JsapError, match="more than 100 files; include each once"):
        load_profile(tmp_path / "0.jsap")
