"""The W3C SPARQL 1.0 and 1.1 test suites: what must parse parses, what must not is refused.

Every query and update text of every manifest is read, that of evaluation tests too. The suites
are not part of the project: SOSA_GATEWAY_SHARED names the folder that has data/rdf-tests in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, NamedNode, RdfFormat, Store

from gateway.errors import SparqlSyntaxError
from gateway.rdf.namespaces import RDF
from gateway.sparql.parser import parse_query, parse_update
from tests.paths import SHARED

_SUITES = SHARED / "data" / "rdf-tests" / "sparql"
_MANIFEST = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"

_STORE_DEVIATES = {
    "sparql10/expr-builtin/case-insensitive-booleans.rq": "the store wants `true` in lower case",
    "sparql10/syntax-sparql3/syn-bad-26.rq": "the store sees no IRI in `?x<?a&&?b>?y`",
}
"""Texts on which pyoxigraph's own parser differs from the suites, which we follow."""


@dataclass(frozen=True, slots=True)
class Case:
    """One text of the suites and whether it is legal."""

    path: Path
    legal: bool

    @property
    def name(self) -> str:
        return self.path.relative_to(_SUITES).as_posix()

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")


def _cases() -> list[Case]:
    manifests = sorted(_SUITES.glob("*/*/manifest.ttl"))
    cases = (case for manifest in manifests for case in _manifest_cases(manifest))
    return list(dict.fromkeys(cases))


def _manifest_cases(manifest: Path) -> Iterator[Case]:
    store = Store()
    store.load(path=str(manifest), format=RdfFormat.TURTLE, base_iri=manifest.as_uri())
    for quad in store.quads_for_pattern(None, NamedNode(_MANIFEST + "action"), None):
        kinds = store.quads_for_pattern(quad.subject, NamedNode(RDF + "type"), None)
        legal = not any("Negative" in str(kind.object) for kind in kinds)
        for path in sorted(_texts(store, quad.object)):
            yield Case(path, legal)


def _texts(store: Store, action: object) -> Iterator[Path]:
    nodes = (
        [quad.object for quad in store.quads_for_pattern(action, None, None)]
        if isinstance(action, BlankNode)
        else [action]
    )
    for node in nodes:
        if isinstance(node, NamedNode) and node.value.endswith((".rq", ".ru")):
            yield Path(node.value.removeprefix("file://"))


def _parse(case: Case) -> None:
    parse = parse_update if case.path.suffix == ".ru" else parse_query
    parse(case.text, base=case.path.as_uri())


def _store_parses(case: Case) -> bool:
    """Whether pyoxigraph takes the text; that it cannot be evaluated (a LOAD, say) is no matter."""
    try:
        if case.path.suffix == ".ru":
            Store().update(case.text, base_iri=case.path.as_uri())
        else:
            Store().query(case.text, base_iri=case.path.as_uri())
    except SyntaxError:
        return False
    except (OSError, RuntimeError, ValueError):
        return True
    return True


_CASES = _cases()
pytestmark = pytest.mark.skipif(not _CASES, reason=f"no W3C test suites in {_SUITES}")


def test_suites_are_whole() -> None:
    assert len(_CASES) > 600
    assert sum(not case.legal for case in _CASES) > 90


@pytest.mark.parametrize(
    "case", [case for case in _CASES if case.legal], ids=lambda case: case.name
)
def test_legal_text_parses(case: Case) -> None:
    _parse(case)


@pytest.mark.parametrize(
    "case", [case for case in _CASES if not case.legal], ids=lambda case: case.name
)
def test_illegal_text_is_refused(case: Case) -> None:
    with pytest.raises(SparqlSyntaxError):
        _parse(case)


def test_store_agrees_but_for_the_deviations_listed() -> None:
    deviating = {case.name for case in _CASES if _store_parses(case) != case.legal}
    assert deviating == set(_STORE_DEVIATES)
