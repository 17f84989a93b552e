"""MessagePack documents: bytes to the values that a JSON text would give.

Place on the way: the format "msgpack". Numbers, byte strings and the rest become what they become
in adapters.documents.cbor; a timestamp becomes RFC 3339. Extensions of an application are no
values. Source: the MessagePack specification.
"""

from collections import Counter

import msgpack

from adapters.documents.cbor import RefusedError, to_json
from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.payload import MAX_DEPTH, Json


def parse_msgpack(raw: bytes) -> Json | Fault:
    """The document in `raw`. Never raises.

    >>> parse_msgpack(bytes.fromhex("81a17418"))
    {'t': '24'}
    """
    if not raw:
        return Fault(None, FaultReason.EMPTY, "the payload is empty")
    try:
        document = msgpack.unpackb(
            raw, strict_map_key=False, timestamp=3, object_pairs_hook=_members, ext_hook=_extension
        )
        if _is_too_deep(document):
            return Fault(None, FaultReason.TOO_DEEP, f"nested more than {MAX_DEPTH} deep")
        return to_json(document, {})
    except RefusedError as refused:
        return Fault(None, refused.reason, str(refused))
    except msgpack.exceptions.StackError:
        return Fault(None, FaultReason.TOO_DEEP, f"nested more than {MAX_DEPTH} deep")
    except (ValueError, TypeError, OverflowError, msgpack.exceptions.UnpackException) as error:
        return Fault(None, FaultReason.MALFORMED, f"no MessagePack: {excerpt(str(error))}")


def _members(pairs: list[tuple[object, object]]) -> dict[object, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        detail = f"{excerpt(str(key))} occurs more than once in a map"
        raise RefusedError(FaultReason.DUPLICATE_KEY, detail)
    return members


def _extension(code: int, data: bytes) -> object:
    detail = f"extension {code} of {len(data)} bytes is no value"
    raise RefusedError(FaultReason.NOT_A_VALUE, detail)


def _is_too_deep(document: object) -> bool:
    level = [document]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for each in level for inner in _inner(each)]
        if not level:
            return False
    return True


def _inner(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
