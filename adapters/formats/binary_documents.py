"""Formats "cbor" and "msgpack": values at paths of a document in a binary encoding.

The selector is a path of adapters.documents.json_path, as in the format "json"; see
adapters.documents.document for what absent and null mean. Integer keys of maps are their digits:
`$.1`. Byte strings are base64url.
"""

from collections.abc import Callable, Sequence

from adapters.adapter import Compile, Fault, Format, stateless
from adapters.documents.cbor import parse_cbor
from adapters.documents.document import DocumentAdapter
from adapters.documents.msgpack import parse_msgpack
from adapters.documents.proposals import document_proposals
from adapters.values.memory import Memory
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Names, Proposal, Propose

Read = Callable[[Payload], Json | Fault]


def read_cbor(payload: Payload) -> Json | Fault:
    """The CBOR document of a payload."""
    return parse_cbor(payload.raw)


def read_msgpack(payload: Payload) -> Json | Fault:
    """The MessagePack document of a payload."""
    return parse_msgpack(payload.raw)


def _compile(read: Read) -> Compile:
    def read_once(payload: Payload) -> Json | Fault:
        return payload.once(read)

    return stateless(lambda mappings: DocumentAdapter(mappings, read_once))


def _propose(family: str, read: Read) -> Propose:
    def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
        document = payload.once(read)
        if isinstance(document, Fault):
            return ()
        return document_proposals(family, payload.message.topic, document, names, memory)

    return propose


CBOR = Format(
    _compile(read_cbor), names=True, members=True, written=True, propose=_propose("cbor", read_cbor)
)
MSGPACK = Format(
    _compile(read_msgpack),
    names=True,
    members=True,
    written=True,
    propose=_propose("msgpack", read_msgpack),
)
