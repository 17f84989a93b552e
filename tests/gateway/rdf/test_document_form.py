"""How deep a document is and what it expands to is told from its bytes, whatever is in them."""

from contextlib import suppress
from random import Random

import pytest
from pyoxigraph import RdfFormat, parse

from gateway.errors import BadRequestError, TooLargeError
from gateway.rdf.document_form import require_form

TURTLE, NT, JSON, XML = (
    RdfFormat.TURTLE,
    RdfFormat.N_TRIPLES,
    RdfFormat.JSON_LD,
    RdfFormat.RDF_XML,
)
RDF = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">%s</rdf:RDF>'
OWL = (
    b"<?xml version='1.0'?>\n<!DOCTYPE rdf:RDF [\n  <!-- as editors write it -->\n"
    b'  <!ENTITY owl "http://www.w3.org/2002/07/owl#" >\n'
    b'  <!ENTITY xsd "http://www.w3.org/2001/XMLSchema#" >\n]>\n'
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="&owl;">'
    b'<rdf:Description rdf:about="urn:a"><rdf:type rdf:resource="&owl;Class"/>'
    b'<owl:n rdf:datatype="&xsd;integer">1</owl:n></rdf:Description></rdf:RDF>'
)


def bomb(levels: int, width: int) -> bytes:
    nested = (b'<!ENTITY e%d "%s">' % (n, b"&e%d;" % (n - 1) * width) for n in range(1, levels))
    entities = [b'<!ENTITY e0 "%s">' % (b"x" * 90), *nested]
    used = b'<rdf:Description rdf:about="urn:a"><rdf:p>&e%d;</rdf:p></rdf:Description>'
    return b"<!DOCTYPE x [%s]>" % b"".join(entities) + RDF % (used % (levels - 1))


DEEP = {
    "graphs": (b'{"@graph":[' * 4000 + b"]}" * 4000, JSON),
    "lists": (b"[" * 60 + b'{"@list":' * 60, JSON),
    "triple terms": (b"<urn:a> <urn:p> " + b"<<( <urn:a> <urn:p> " * 5000, TURTLE),
    "triple terms on lines": (b"<urn:a> <urn:p> " + b"<<( <urn:a> <urn:p> " * 5000, NT),
    "reified triples": (b"<< <urn:a> <urn:p> " * 101, TURTLE),
    "collections": (b"<urn:a> <urn:p> " + b"(" * 101, TURTLE),
    "blank nodes": (b"<urn:a> <urn:p> " + b"[ <urn:p> " * 101, TURTLE),
    "graphs of trig": (b"<urn:g> " + b"{" * 101, RdfFormat.TRIG),
    "elements": (RDF % (b"<a b='/>'>" * 101), XML),
    "entities": (bomb(9, 10), XML),
    "many references": (
        b'<!DOCTYPE x [<!ENTITY e "%s">]>' % (b"x" * 500) + RDF % (b"&e;" * 500),
        XML,
    ),
}
WELL = {
    "strings with brackets": (b'{"a":"[[[[{{{{' + b"[" * 200 + b'\\"[[["}', JSON),
    "short strings": (b"<urn:a> <urn:p> '%s' , \"%s\" ." % (b"[" * 200, b"(" * 200), TURTLE),
    "long strings": (b'<urn:a> <urn:p> """%s"x""%s""" .' % (b"<<(" * 200, b"[" * 200), TURTLE),
    "escaped quotes": (b'<urn:a> <urn:p> "\\"%s\\\\" .' % (b"[" * 200), TURTLE),
    "comments": (b"# %s\n<urn:a> <urn:p> 1 ." % (b"[" * 200), TURTLE),
    "iris": (b"<urn:a%s> <urn:p> 1 ." % (b"(" * 200), TURTLE),
    "names": (b"@prefix e: <urn:> . e:%s e:p 1 ." % (b"\\(" * 200), TURTLE),
    "many beside each other": (b"<urn:a> <urn:p> [ ] , ( 1 ) ." * 500, TURTLE),
    "ninety-nine deep": (b"<urn:a> <urn:p> " + b"( " * 99 + b") " * 99 + b".", TURTLE),
    "an ontology": (OWL, XML),
    "data sections": (RDF % (b"<!-- %s --><![CDATA[%s]]>" % (b"<a>" * 200, b"<a>" * 200)), XML),
    "elements beside each other": (RDF % (b"<a/><b></b>" * 500), XML),
}


@pytest.mark.parametrize("name", DEEP)
def test_too_deep_or_too_long_in_the_end(name: str) -> None:
    with pytest.raises(TooLargeError, match=r"document_depth|10 times"):
        require_form(*DEEP[name], 100)


@pytest.mark.parametrize("name", WELL)
def test_what_only_looks_deep_is_taken(name: str) -> None:
    require_form(*WELL[name], 100)


@pytest.mark.parametrize(
    "name", ["short strings", "long strings", "comments", "names", "an ontology"]
)
def test_parser_agrees_that_it_is_well(name: str) -> None:
    content, form = WELL[name]
    assert list(parse(content, form))


@pytest.mark.parametrize(
    "subset",
    [
        b'<!ENTITY e SYSTEM "file:///etc/passwd">',
        b'<!ENTITY % p "x"> %p;',
        b'<!ENTITY e "&f;"><!ENTITY f "x">',
        b'<!ENTITY e "&e;">',
        b'<!ENTITY e "<a>">',
        b"<!ELEMENT a ANY>",
        b'<!ENTITY e "x"',
    ],
)
def test_dtd_of_more_than_plain_entities_is_refused(subset: bytes) -> None:
    with pytest.raises(BadRequestError):
        require_form(b"<!DOCTYPE x [" + subset + b"]>" + RDF % b"", XML, 100)


@pytest.mark.parametrize(
    "content",
    [
        b'<!DOCTYPE x SYSTEM "http://evil.example/x.dtd">' + RDF % b"",
        b'<!DOCTYPE x PUBLIC "-//x" "http://evil.example/x.dtd" []>' + RDF % b"",
        (OWL.decode()).encode("utf-16"),
        b"<!DOCTYPE",
    ],
)
def test_document_that_is_not_all_there_is_refused(content: bytes) -> None:
    with pytest.raises(BadRequestError):
        require_form(content, XML, 100)


@pytest.mark.parametrize("seed", range(200))
def test_no_form_of_a_document_takes_long_or_fails_otherwise(seed: int) -> None:
    random = Random(seed)
    pieces = [
        b'"',
        b"'",
        b'"""',
        b"<",
        b"<<(",
        b">>",
        b"\\",
        b"#",
        b"\n",
        b"<!--",
        b"<!DOCTYPE x [",
    ]
    pieces += [
        b"<![CDATA[",
        b"&e;",
        b"<a b='",
        b"{",
        b"]",
        b"(",
        b"\xff",
        b"<!ENTITY e '",
        b"x" * 50,
    ]
    content = b"".join(random.choices(pieces, k=random.choice((5, 50, 2000))))
    for form in (TURTLE, NT, JSON, XML, RdfFormat.TRIG, RdfFormat.N_QUADS):
        with suppress(TooLargeError, BadRequestError):
            require_form(content, form, 100)
