"""`Delta`: a value with an algebra."""

from pyoxigraph import Literal, NamedNode, Quad

from gateway.rdf.delta import Delta, quads_delta

_A, _B, _C = (Quad(NamedNode("urn:s"), NamedNode("urn:p"), Literal(n)) for n in range(3))
_G, _H = NamedNode("urn:g"), NamedNode("urn:h")


def test_delta_of_nothing_is_empty() -> None:
    assert Delta().is_empty
    assert quads_delta([_A], [_A]).is_empty


def test_delta_of_a_graph_alone_is_not_empty() -> None:
    assert not Delta(graphs_created=(_G,)).is_empty
    assert not Delta(graphs_dropped=(_G,)).is_empty
    assert len(Delta(graphs_created=(_G,))) == 0


def test_negate_undoes_every_part() -> None:
    delta = Delta((_A,), (_B, _C), (_G,), (_H,))
    assert delta.negate() == Delta((_B, _C), (_A,), (_H,), (_G,))
    assert delta.negate().negate() == delta


def test_quads_on_both_sides_and_repeated_ones_are_consolidated() -> None:
    assert quads_delta([_A, _B, _A], [_B, _C, _C]) == Delta((_A,), (_C,))


def test_length_counts_the_quads_of_both_sides() -> None:
    assert len(quads_delta([_A, _B], [_C])) == 3
