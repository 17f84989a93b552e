"""Format "json": values at paths of a JSON document, as most device families send them.

The selector is a path of adapters.documents.json_path, or one of RFC 9535; see
adapters.documents.document for what absent and null mean, adapters.documents.proposals for what is
made of a document that nobody has announced.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, Format, stateless
from adapters.documents.document import DocumentAdapter
from adapters.documents.proposals import document_proposals
from adapters.values.mapping import Mapping
from adapters.values.memory import Memory
from adapters.values.payload import Payload
from adapters.values.proposal import Names, Proposal


def json_adapter(mappings: Sequence[Mapping]) -> DocumentAdapter:
    """All paths of a topic filter, over one JSON document."""
    return DocumentAdapter(mappings, Payload.document)


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A mapping for each value of a JSON object or array; what it measures is a person's to say."""
    document = payload.document()
    if isinstance(document, Fault):
        return ()
    return document_proposals("json", payload.message.topic, document, names, memory)


FORMAT = Format(stateless(json_adapter), names=True, members=True, written=True, propose=propose)
