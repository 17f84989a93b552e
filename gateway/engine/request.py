"""What callers ask of the engine, as the values that it works with.

Place: between the engine's public methods and the store: UPDATE texts become bound plans or, where
they wait for their time, requests of texts; a restriction of rights is kept where it hides
something.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from pyoxigraph import NamedNode

from gateway.errors import BadRequestError
from gateway.rdf.delta import Delta
from gateway.rdf.rights import ALL_RIGHTS, Graphs, Rights
from gateway.rdf.terms import Term
from gateway.sparql.algebra import HIDDEN_PREFIX
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import graphs_looked_at
from gateway.store.quad_store import QuadStore
from gateway.store.update import BoundUpdate, UpdatePlan, bind_update, compile_update, evaluate

Update = str | UpdatePlan | Sequence[BoundUpdate]
"""A text, a prepared update, or several bound ones as one request."""

Using = tuple[tuple[NamedNode, ...], tuple[NamedNode, ...]]
"""The protocol's default and named graphs of every WHERE; both empty: what the texts say."""


@dataclass(frozen=True, slots=True)
class Request:
    """An UPDATE that outlives the process: texts, each with its forced bindings.

    `owner` is the identity that sent it, "" where nobody was asked who they are.
    """

    updates: tuple[tuple[str, Mapping[str, Term]], ...]
    using_graphs: tuple[NamedNode, ...] = ()
    using_named_graphs: tuple[NamedNode, ...] = ()
    rights: Rights = ALL_RIGHTS
    owner: str = ""

    @classmethod
    def of(
        cls,
        update: Update,
        bound: Sequence[BoundUpdate],
        using: Using,
        rights: Rights,
        owner: str = "",
    ) -> Self:
        """What is kept of an update that `bind` has bound."""
        texts = [update] if isinstance(update, str) else [plan.text for plan, _ in bound]
        bindings = [
            {name: term for name, term in each.items() if not name.startswith(HIDDEN_PREFIX)}
            for _, each in bound
        ]
        return cls(tuple(zip(texts, bindings, strict=True)), *using, rights, owner)

    def change(self, store: QuadStore, present: Rights = ALL_RIGHTS) -> Delta:
        """What it would change now, by the rights of then and `present`. Raises a GatewayError."""
        using = (self.using_graphs, self.using_named_graphs)
        plans = [(compile_update(text, *using), bindings) for text, bindings in self.updates]
        return evaluate(store, plans, self.rights.within(present))


def bind(update: Update, bindings: Mapping[str, Term], using: Using) -> Sequence[BoundUpdate]:
    """The plans of an update with their bindings; those given here are for all of them.

    Raises what `compile_update` raises, and BadRequestError for a value that is no term.
    """
    for name, value in bindings.items():
        if not isinstance(value, Term):
            raise BadRequestError(
                f"the binding of ?{name} is no RDF term: {value!r}",
                "give a NamedNode, BlankNode, Literal or Triple of pyoxigraph",
            )
    if isinstance(update, str):
        plan, constants = bind_update(update, *using)
        return [(plan, {**constants, **bindings})]
    bound = [(update, bindings)] if isinstance(update, UpdatePlan) else update
    if bindings and bound is update:
        bound = [(plan, {**bindings, **own}) for plan, own in bound]
    if any(using):
        bound = [(compile_update(plan.text, *using), own) for plan, own in bound]
    return bound


def restriction(
    text: str,
    default_graphs: tuple[NamedNode, ...],
    named_graphs: tuple[NamedNode, ...],
    readable: Graphs,
) -> Graphs:
    """The readable graphs where they hide something that the query looks at, else None."""
    if readable is None:
        return None
    looked_at = graphs_looked_at(parse_query(text), default_graphs, named_graphs)
    return None if looked_at is not None and looked_at <= readable else readable
