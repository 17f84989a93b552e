"""What is chosen, what of it is seen, and how a protocol names it."""

from pyoxigraph import DefaultGraph, NamedNode

from gateway.rdf.dataset import Dataset

A, B = NamedNode("urn:a"), NamedNode("urn:b")


def test_nothing_chosen_is_no_dataset_but_an_empty_one_can_be_said() -> None:
    assert Dataset.chosen([], []) is None
    assert Dataset.chosen(iter([A]), iter([B])) == Dataset((A,), (B,))
    assert Dataset.chosen([], [B]) == Dataset((), (B,))
    assert Dataset() is not None


def test_who_sees_some_graphs_has_the_rest_of_both_parts() -> None:
    dataset = Dataset((DefaultGraph(), A), (A, B, A))
    assert dataset.within(lambda graph: graph == A) == Dataset((A,), (A, A))
    assert dataset.within(lambda _: False) == Dataset()


def test_iris_are_those_of_named_nodes() -> None:
    assert Dataset((DefaultGraph(), A), (B,)).iris() == (["urn:a"], ["urn:b"])
