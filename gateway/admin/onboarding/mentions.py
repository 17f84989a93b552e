"""Who names a property by its IRI: queries and updates of profiles, what is subscribed, actuators.

Place on the way of the data: beside `announcements`, which changes what a mapping observes only
where nobody would miss the old property; and `migration`, which tells a person who would.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pyoxigraph import NamedNode

from gateway.engine import Engine
from gateway.rdf.namespaces import ACTUATIONS_GRAPH, MAPPINGS_GRAPH

Texts = Callable[[], Mapping[str, str]]
"""SPARQL texts that stand in files, by what a person calls them; asked anew each time."""


@dataclass(frozen=True, slots=True)
class Mention:
    """`where` names the text or node for people, `iri` is what stands in it."""

    where: str
    iri: str


class Mentions:
    """Looks for IRIs; in the scheduler's thread."""

    def __init__(self, base: str, texts: Texts = dict) -> None:
        self._base = base
        self._texts = texts

    def of_base(self, engine: Engine) -> Iterator[Mention]:
        """The texts that name the base of the properties that this gateway minted, or one of them.

        A prefix that ends before it needs an escaped slash: `id:property\\/temperature`.
        """
        base, local = self._base, "property\\/"
        for where, text in self._standing(engine).items():
            if base in text or (base.removesuffix("property/") in text and local in text):
                yield Mention(where, base)

    def in_texts(self, engine: Engine, iri: str) -> Iterator[Mention]:
        """The texts that name an IRI, whole or by a prefix of its namespace."""
        name = re.split(r"[/#:]", iri)[-1]
        namespace = iri.removesuffix(name)
        by_prefix = re.compile(rf":{re.escape(name)}\b") if name else None
        for where, text in self._standing(engine).items():
            is_prefixed = by_prefix is not None and f"<{namespace}>" in text
            if iri in text or (is_prefixed and by_prefix and by_prefix.search(text)):
                yield Mention(where, iri)

    def of_property(self, engine: Engine, iri: str, own: frozenset[NamedNode]) -> Iterator[Mention]:
        """Actuators, actuations and mappings of others that name a property; not those of `own`."""
        for graph in (MAPPINGS_GRAPH, ACTUATIONS_GRAPH):
            for quad in engine.store.match(None, None, NamedNode(iri), graph):
                if quad.subject not in own:
                    yield Mention(str(quad.subject), iri)

    def _standing(self, engine: Engine) -> Mapping[str, str]:
        subscribed = {f"subscription: {each.text[:80]}": each.text for each in engine.standing}
        return {**self._texts(), **subscribed}
