"""The ontologies of files brought into the ontology graph, once for each content.

Place: between the files and the store, before the reasoner starts and when files have changed. The
graph is the truth: as long as the files say the same, what an UPDATE did there stays. When they
say otherwise, what they said before and say no more is removed, and what is new is added.
"""

from base64 import urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

from pyoxigraph import Literal, NamedNode, Quad

from gateway.rdf.delta import Delta, quads_delta
from gateway.rdf.namespaces import GW, ONTOLOGY_GRAPH, STATE_GRAPH
from gateway.reasoning.ontologies import OntologyFile
from gateway.store.quad_store import QuadStore

_LOADED = NamedNode(GW + "loadedOntologies")
_FORM = "1"
"""What is kept of a file; another number has all files read again."""


@dataclass(frozen=True, slots=True)
class Ontologies:
    """The ontologies of files, together; with `annotations` all that they say."""

    files: tuple[OntologyFile, ...] = ()
    annotations: bool = False

    @property
    def mark(self) -> str:
        """A digest of what they say; where they stand and in which order says nothing."""
        said = [_FORM, str(self.annotations), *sorted(file.digest for file in self.files)]
        return sha256(" ".join(said).encode()).hexdigest()

    def quads(self) -> frozenset[Quad]:
        """What they say, of the ontology graph. Raises OntologyError."""
        return frozenset(
            quad for file in self.files for quad in file.quads(annotations=self.annotations)
        )

    def delta(self, store: QuadStore, gateway: NamedNode) -> Delta:
        """The change that brings them into the store. Raises OntologyError."""
        marks = list(store.match(gateway, _LOADED, None, STATE_GRAPH))
        before = [quad.object.value for quad in marks if isinstance(quad.object, Literal)]
        if [each.split(" ", 1)[0] for each in before] == [self.mark] or not (self.files or marks):
            return Delta()
        said = {_short(quad): quad for quad in self.quads()}
        were = {each for text in before for each in text.split()[1:]}
        stored = {_short(quad): quad for quad in store.match(None, None, None, ONTOLOGY_GRAPH)}
        mark = Literal(" ".join([self.mark, *sorted(said)]))
        return quads_delta(
            [
                Quad(gateway, _LOADED, mark, STATE_GRAPH),
                *(quad for short, quad in said.items() if short not in stored),
            ],
            [
                *marks,
                *(stored[short] for short in sorted(were) if short in stored and short not in said),
            ],
        )


NO_ONTOLOGIES = Ontologies()


def united(deltas: Iterable[Delta]) -> Delta:
    """Changes of different quads as one."""
    several = tuple(deltas)
    return quads_delta(
        [quad for each in several for quad in each.added],
        [quad for each in several for quad in each.removed],
    )


def _short(quad: Quad) -> str:
    """What stands for a quad: 9 bytes of its digest, of which no two are ever alike."""
    return urlsafe_b64encode(sha256(str(quad).encode()).digest()[:9]).decode()
