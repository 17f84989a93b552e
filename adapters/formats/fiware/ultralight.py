"""UltraLight 2.0: measures as pairs of texts between bars, `t|21.5|h|40`.

Groups of measures stand one behind another with `#` between them; an odd number of texts in a
group begins with its time. A number or a truth value by the grammar of JSON is one, all else is
text. A group with `@` in it is the result of a command.

Source: FIWARE IoT Agent for the UltraLight 2.0 protocol, user manual, "Measure Payload Syntax".
"""

from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason
from adapters.formats.fiware.measures import TIME, Measure
from adapters.values.fault import excerpt
from adapters.values.payload import Payload

MAX_GROUPS = 1000


def ultralight_measures(payload: Payload) -> Sequence[Measure] | Fault:
    """The measures of each group; a Fault where one is none, for then nobody knows what it says.

    >>> from datetime import UTC, datetime
    >>> from adapters.values.message import Message
    >>> told = Payload(Message("/ul/k/d/attrs", b"gps|1.2/3.4#t|10", datetime.now(UTC)))
    >>> ultralight_measures(told)
    [{'gps': '1.2/3.4'}, {'t': '10'}]
    """
    text = payload.text()
    if isinstance(text, Fault):
        return text
    text = text.strip()
    if not text:
        return Fault(None, FaultReason.EMPTY, "the payload is empty")
    groups = text.split("#")
    if len(groups) > MAX_GROUPS:
        detail = f"{len(groups)} groups, at most {MAX_GROUPS} are read"
        return Fault(None, FaultReason.TOO_LARGE, detail)
    measures = []
    for group in groups:
        if group.find("@") > 0:
            continue
        measure = _measure(group.removeprefix("|"))
        if isinstance(measure, Fault):
            return measure
        measures.append(measure)
    return measures


def _measure(group: str) -> Measure | Fault:
    texts = group.split("|")
    time = texts.pop(0) if len(texts) % 2 else ""
    if not texts or not all(texts):
        detail = f"{excerpt(group)} is no list of name|value"
        return Fault(None, FaultReason.MALFORMED, detail)
    names = texts[::2]
    if len(set(names)) != len(names):
        return Fault(None, FaultReason.DUPLICATE_KEY, f"{excerpt(group)} has a name twice")
    measure: Measure = dict(zip(names, texts[1::2], strict=True))
    return {TIME: time, **measure} if time else measure
