"""What a window says of before it was opened, where nothing was filled in."""

from pyoxigraph import Literal, NamedNode, Triple

from gateway.engine import Engine
from gateway.windows import Window

NODE = NamedNode("urn:n")
QUERY = "SELECT ?o { GRAPH <urn:w> { ?s ?p ?o } }"
STREAM = "urn:stream"


def told(engine: Engine, **window: object) -> bool:
    """Whether a window of the stream is complete as it is opened."""
    windows = {"urn:w": Window(STREAM, **window)}  # type: ignore[arg-type]
    first = engine.subscribe(QUERY, windows=windows)
    assert first.windows is not None
    return first.windows["urn:w"].complete


def test_a_stream_that_had_nothing_is_known_from_its_beginning() -> None:
    engine = Engine.open()
    assert told(engine, elements=5)
    assert told(engine, elements=5, per="stream")
    assert told(engine, range="PT1H")
    engine.close()


def test_of_a_stream_that_had_something_it_is_not() -> None:
    engine = Engine.open()
    engine.push("urn:other", [Triple(NODE, NODE, Literal(1))])
    assert told(engine, triples=5)
    engine.push(STREAM, [Triple(NODE, NODE, Literal(1))])
    assert not told(engine, triples=6)
    engine.close()


def test_of_a_stream_that_was_there_before_the_engine_it_is_not() -> None:
    engine = Engine.open()
    engine.windowed.opened.begins_empty = lambda stream: stream != STREAM
    assert not told(engine, elements=5)
    engine.close()
