"""Profiles: both spellings, includes, warnings, and errors that name their place."""

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode

from jsap import JsapError, Profile, load_profile
from jsap.namespaces import DEFAULT_NAMESPACES, XSD
from jsap.template import Graphs

ALL = {"sparql": "SELECT * { ?s ?p ?o }"}


def write(path: Path, **members: object) -> Path:
    path.write_text(json.dumps(members), encoding="utf-8")
    return path


def bindings(**declared: object) -> Profile:
    entry = {"sparql": "INSERT { ?s ?p ?o } WHERE {}", "forcedBindings": declared}
    return Profile.parse({"updates": {"U": entry}}, source="own.jsap")


def test_members_are_read() -> None:
    profile = Profile.parse(
        {
            "host": "gateway.example",
            "oauth": {"enable": False},
            "sparql11protocol": {
                "protocol": "http",
                "port": "8000",
                "query": {"path": "/query", "method": "GET", "format": "JSON"},
            },
            "sparql11seprotocol": {
                "protocol": "ws",
                "availableProtocols": {"ws": {"port": 9000, "path": "/subscribe"}},
            },
            "namespaces": {"chat": "urn:chat:"},
            "extended": [1, {"free": None}],
            "queries": {"ALL": ALL},
        }
    )
    assert profile.host == "gateway.example"
    assert profile.sparql11protocol.port == 8000
    assert profile.sparql11protocol.query.path == "/query"
    assert profile.sparql11seprotocol.channels["ws"].port == 9000
    assert profile.namespaces == {**DEFAULT_NAMESPACES, "chat": "urn:chat:"}
    assert profile.extended == [1, {"free": None}]
    assert profile.queries["ALL"].id == "ALL"
    assert profile.source == "profile"
    assert profile.warnings == ()


def test_empty_profile_has_nothing() -> None:
    profile = Profile.parse({})
    assert (profile.updates, profile.queries, profile.graphs) == ({}, {}, Graphs())


@pytest.mark.parametrize("key", ["default-graph-uri", "default_graph_uri"])
@pytest.mark.parametrize("value", ["urn:g", ["urn:g"]])
def test_graphs_have_both_spellings_and_one_text_is_a_list(key: str, value: object) -> None:
    assert Profile.parse({"graphs": {key: value}}).graphs.default_graph_uri == ("urn:g",)


def test_graphs_of_an_entry_stand_in_place_of_the_profiles() -> None:
    profile = Profile.parse(
        {
            "graphs": {"default-graph-uri": "urn:g", "named-graph-uri": "urn:n"},
            "queries": {"OWN": {**ALL, "graphs": {"default-graph-uri": "urn:own"}}, "ALL": ALL},
        }
    )
    assert profile.queries["OWN"].graphs == Graphs(("urn:own",), ("urn:n",))
    assert profile.queries["ALL"].graphs == Graphs(("urn:g",), ("urn:n",))


def test_forced_bindings_have_type_datatype_language_and_value() -> None:
    profile = bindings(
        s={"type": "URI", "value": "rdf:nil"},
        p={"type": "literal", "datatype": "xsd:decimal", "value": "1.50"},
        o={"type": "literal", "language": "en", "value": "text"},
    )
    assert profile.warnings == ()
    assert profile.updates["U"].bind({}) == {
        "s": NamedNode(DEFAULT_NAMESPACES["rdf"] + "nil"),
        "p": Literal("1.50", datatype=NamedNode(XSD + "decimal")),
        "o": Literal("text", language="en"),
    }


def test_prefixed_names_are_understood_at_bind_too() -> None:
    update = bindings(s={"type": "uri"}).updates["U"]
    assert update.bind({"s": "rdfs:Class"})["s"] == NamedNode(DEFAULT_NAMESPACES["rdfs"] + "Class")
    with pytest.raises(JsapError, match="neither an absolute IRI nor a prefixed name"):
        update.bind({"s": "Class"})


def test_full_iri_is_a_datatype() -> None:
    update = bindings(o={"type": "literal", "datatype": XSD + "integer"}).updates["U"]
    assert update.bind({"o": 7}) == {"o": Literal(7)}


@pytest.mark.parametrize(("binding_type", "given"), [("uri", "urn:a"), ("bnode", "b")])
def test_empty_value_is_to_be_given_unless_it_is_a_literal(binding_type: str, given: str) -> None:
    empty = bindings(s={"type": binding_type, "value": ""}, o={"type": "literal", "value": ""})
    assert empty.warnings == ()
    with pytest.raises(JsapError, match=r"\?s: no value"):
        empty.updates["U"].bind({})
    assert empty.updates["U"].bind({"s": given})["o"] == Literal("")


@pytest.mark.parametrize(
    ("declared", "warning"),
    [
        ({"type": "literal", "value": 52877}, "value: write it as a text"),
        ({"type": "literal", "value": Decimal("1.50")}, "value: write it as a text"),
        ({"type": "literal", "value": True}, "value: write it as a text"),
        ({"type": "literal", "datatype": "xsd:DateTime"}, "datatype: no xsd:DateTime; xsd:dateT"),
        ({"type": "literal", "datatype": "xs:int"}, "datatype: <xs:int> looks like a prefixed"),
        ({"type": "literal", "datatype": "xsd:decimal", "value": "NaN"}, "it is not used"),
        ({"type": "uri", "value": "no iri"}, "it is not used"),
        ({"type": "uri", "datatype": "xsd:anyURI"}, ": only a literal has a datatype"),
    ],
)
def test_harmless_deviation_is_a_warning(declared: Mapping[str, object], warning: str) -> None:
    [told] = bindings(o=declared).warnings
    assert told.startswith("updates.U.forcedBindings.o")
    assert warning in told


def test_binding_that_does_not_occur_is_a_warning() -> None:
    profile = bindings(x={"type": "uri"})
    assert profile.warnings == ("updates.U.forcedBindings.x: ?x does not occur",)


def test_number_keeps_its_digits_and_a_value_that_does_not_fit_is_to_be_given(
    tmp_path: Path,
) -> None:
    path = tmp_path / "own.jsap"
    path.write_text(
        '{"updates": {"U": {"sparql": "INSERT { ?s ?p ?o } WHERE {}", "forcedBindings": {'
        '"o": {"type": "literal", "datatype": "xsd:decimal", "value": 0.10},'
        '"p": {"type": "uri", "value": "no iri"}}}}}'
    )
    update = load_profile(path).updates["U"]
    with pytest.raises(JsapError, match=r"\?p: no value"):
        update.bind({})
    bound = update.bind({"p": "urn:p"})
    assert bound["o"] == Literal("0.10", datatype=NamedNode(XSD + "decimal"))


def test_text_without_tokens_is_a_warning() -> None:
    profile = Profile.parse({"queries": {"Q": {"sparql": "SELECT 'open"}}})
    [told] = profile.warnings
    assert told.startswith("queries.Q.sparql: ")
    assert told.endswith("at line 1, column 8")


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"queries": 3}, "own.jsap: queries: not an object; 3 is given"),
        ({"queries": {"Q": {}}}, "own.jsap: queries.Q.sparql: missing; add it"),
        ({"queries": {"Q": {"sparql": 3}}}, "own.jsap: queries.Q.sparql: not a text; 3"),
        ({"graphs": {"named-graph-uri": 3}}, "graphs.named-graph-uri: not a list"),
        ({"graphs": {"named-graph-uri": ["a", 3]}}, "graphs.named-graph-uri[1]: not a text"),
        ({"namespaces": {"a b": "urn:x:"}}, "namespaces.a b: no prefix"),
        ({"namespaces": {"a": "urn:x> <urn:y"}}, "namespaces.a: 'urn:x> <urn:y' is no absolute"),
        ({"namespaces": {"a": "relative"}}, "namespaces.a: 'relative' is no absolute IRI"),
        ({"include": "other.jsap"}, "own.jsap: include: relative to no folder"),
        ({"#include": ["other.jsap"]}, "own.jsap: include: relative to no folder"),
    ],
)
def test_wrong_profile_tells_file_and_json_path(members: Mapping[str, object], told: str) -> None:
    with pytest.raises(JsapError) as caught:
        Profile.parse(members, source="own.jsap")
    assert told in str(caught.value)
    assert caught.value.source == "own.jsap"


@pytest.mark.parametrize(
    ("declared", "told"),
    [
        ({"type": "litteral"}, "forcedBindings.o.type: input should be 'uri', 'bnode' or 'litera"),
        ({"value": "x"}, "forcedBindings.o.type: missing"),
        ({"type": "literal", "datatype": "number"}, "o.datatype: 'number' is neither an abs"),
        (
            {"type": "literal", "datatype": "xsd:string", "language": "en"},
            "o: a datatype and a language; keep one of the two",
        ),
    ],
)
def test_wrong_forced_binding_tells_its_json_path(
    declared: Mapping[str, object], told: str
) -> None:
    with pytest.raises(JsapError) as caught:
        bindings(o=declared)
    assert str(caught.value).startswith("own.jsap: updates.U.forcedBindings.o")
    assert told in str(caught.value)


# files


def test_file_that_is_no_json_tells_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "own.jsap"
    path.write_text('{\n  "host": ,}')
    with pytest.raises(JsapError, match=r"own.jsap: line 2, column 11: not JSON"):
        load_profile(path)


@pytest.mark.parametrize("number", ["1e999999999", "-1e-5000", "9" * 5000])
def test_a_number_that_would_fill_the_memory_is_refused(number: str) -> None:
    with pytest.raises(JsapError, match="digits"):
        Profile.parse(f'{{"sparql11protocol": {{"port": {number}}}}}')


def test_half_of_a_surrogate_pair_is_refused_where_it_stands() -> None:
    with pytest.raises(JsapError, match=r"extended.rules\[0\]: half of a surrogate pair"):
        Profile.parse(r'{"extended": {"rules": ["\ud800"]}}')


@pytest.mark.parametrize("content", [b"[]", b'{"host": "\xff"}'])
def test_file_that_is_no_object_or_no_utf_8_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "own.jsap"
    path.write_bytes(content)
    with pytest.raises(JsapError, match=r"own.jsap: not "):
        load_profile(path)


def test_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "own.jsap"
    path.write_bytes(b'\xef\xbb\xbf{"host": "h"}')
    assert load_profile(path).host == "h"


def test_absent_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_profile(tmp_path / "absent.jsap")


@pytest.mark.parametrize("key", ["include", "#include"])
def test_what_is_included_wins_key_by_key(tmp_path: Path, key: str) -> None:
    (tmp_path / "shared").mkdir()
    write(
        tmp_path / "shared" / "part.jsap",
        host="part",
        namespaces={"a": "urn:part:a:"},
        graphs={"default-graph-uri": ["urn:g2", "urn:g1"]},
        extended={"adapters": {"mqtt": {"port": 2}}, "mappings": [2]},
        queries={"BOTH": {"sparql": "SELECT ?part { ?part a a:B , b:B }"}},
    )
    profile = load_profile(
        write(
            tmp_path / "own.jsap",
            **{key: "shared/part.jsap"},
            host="own",
            namespaces={"a": "urn:own:a:", "b": "urn:own:b:"},
            graphs={"default-graph-uri": "urn:g1"},
            extended={"adapters": {"mqtt": {"port": 1, "url": "u"}}, "mappings": [1]},
            queries={"BOTH": ALL, "OWN": {"sparql": "ASK { ?s a a:A }"}},
        )
    )
    assert profile.host == "part"
    assert profile.graphs.default_graph_uri == ("urn:g1", "urn:g2")
    assert profile.extended == {"adapters": {"mqtt": {"port": 2, "url": "u"}}, "mappings": [1, 2]}
    assert profile.queries["BOTH"].variables == ("part",)
    assert profile.queries["BOTH"].text.startswith("PREFIX a: <urn:part:a:>\nPREFIX b: <urn:own:b")
    assert profile.queries["OWN"].text.startswith("PREFIX a: <urn:part:a:>")


def test_included_file_without_a_member_leaves_it(tmp_path: Path) -> None:
    write(tmp_path / "part.jsap", queries={"ALL": ALL})
    own = write(tmp_path / "own.jsap", include=["part.jsap"], host="own", extended={"x": 1})
    profile = load_profile(own)
    assert (profile.host, profile.extended, [*profile.queries]) == ("own", {"x": 1}, ["ALL"])


def test_later_include_wins_and_two_ways_to_a_file_are_no_circle(tmp_path: Path) -> None:
    write(tmp_path / "base.jsap", host="base")
    write(tmp_path / "a.jsap", include="base.jsap", namespaces={"x": "urn:a:"})
    write(tmp_path / "b.jsap", include="base.jsap", namespaces={"x": "urn:b:"})
    profile = load_profile(write(tmp_path / "own.jsap", include=["a.jsap", "b.jsap"]))
    assert (profile.host, profile.namespaces["x"]) == ("base", "urn:b:")


def test_include_in_a_circle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    write(tmp_path / "part" / "b.jsap", include="../a.jsap")
    own = write(tmp_path / "a.jsap", include="part/b.jsap")
    with pytest.raises(JsapError, match=r"b.jsap: include\[0\]: ../a.jsap includes itself"):
        load_profile(own)


def test_absent_include_tells_its_place(tmp_path: Path) -> None:
    own = write(tmp_path / "own.jsap", include=["absent.jsap"])
    with pytest.raises(JsapError, match=r"own.jsap: include\[0\]: absent.jsap cannot be read"):
        load_profile(own)


def test_error_and_warning_of_an_included_entry_name_its_file(tmp_path: Path) -> None:
    odd = {**ALL, "forcedBindings": {"x": {"type": "uri"}}}
    part = write(tmp_path / "part.jsap", queries={"ODD": odd})
    own = write(tmp_path / "own.jsap", include=["part.jsap"])
    assert load_profile(own).warnings == (
        f"{part}: queries.ODD.forcedBindings.x: ?x does not occur",
    )
    wrong = {**ALL, "forcedBindings": {"s": {"type": "literal", "datatype": "number"}}}
    write(part, queries={"WRONG": wrong})
    with pytest.raises(JsapError, match=r"part.jsap: queries.WRONG.forcedBindings.s.datatype"):
        load_profile(own)
