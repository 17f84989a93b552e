"""Format "json": values at paths of a JSON document, as most device families send them.

The selector is a path of adapters.documents.json_path; see adapters.documents.document for what
absent and null mean.
"""

from collections.abc import Sequence
from itertools import islice

from adapters.adapter import Fault, Format, stateless
from adapters.documents.document import DocumentAdapter
from adapters.documents.json_path import leaves
from adapters.values.mapping import Mapping
from adapters.values.memory import Memory
from adapters.values.payload import Payload
from adapters.values.proposal import Names, Proposal
from adapters.values.usual_words import usual

MAX_LEAVES = 200


def json_adapter(mappings: Sequence[Mapping]) -> DocumentAdapter:
    """All paths of a topic filter, over one JSON document."""
    return DocumentAdapter(mappings, Payload.document)


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A mapping for each value of a JSON object or array; what it measures is a person's to say."""
    del memory
    document = payload.document()
    if isinstance(document, Fault) or not isinstance(document, dict | list):
        return ()
    topic = payload.message.topic
    found = islice(leaves(document), MAX_LEAVES)
    return [_proposal(topic, path, name, names) for path, name, _ in found]


def _proposal(topic: str, path: str, name: str, names: Names) -> Proposal:
    found = usual(name)
    mapping = Mapping(
        names.mapping("json", topic, path),
        topic,
        "json",
        names.sensor("json", topic, path),
        names.observed_property(found.meaning),
        names.feature("json", topic),
        path,
        found.unit,
    )
    question = "Is this a measured value, in this unit, and of what?"
    return Proposal(mapping, "json", topic, f"{topic} {path}", found.meaning, question=question)


FORMAT = Format(stateless(json_adapter), names=True, members=True, written=True, propose=propose)
