"""Format "modbus": registers of a Modbus device, which the gateway itself asks for.

Topic `modbus/DEVICE`, the selector is a register (adapters.modbus.register); the payload has the
registers as they were read (adapters.modbus.reading), so that scale, units, quarantine, `mapping
try` and the journal work as for every other message. A mapping is also what makes the gateway ask:
without one no register is read. A device that does not answer has it said of its streams, as by a
last will.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, FaultReason, Findings, Format, missing, stateless
from adapters.modbus.command import command_defect, encode_command
from adapters.modbus.reading import Reading, read_reading
from adapters.modbus.register import Register
from adapters.modbus.topics import is_device_topic
from adapters.modbus.words import decoded
from adapters.values.mapping import Mapping, MappingError
from adapters.values.notice import Liveness
from adapters.values.payload import Payload
from adapters.values.stream import Stream


class ModbusAdapter:
    """All registers on a topic."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        self._registers = tuple(map(_register, mappings))

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """Each register that was asked for; what the device refused is a fault of its mapping."""
        reading = payload.once(read_reading)
        if isinstance(reading, Fault):
            return Findings.of_fault(reading)
        findings = Findings()
        for register, stream in zip(self._registers, streams, strict=True):
            if register.device == reading.device:
                _find(reading, register, stream, findings)
        return findings or Findings.of_fault(missing(streams))


def _find(reading: Reading, register: Register, stream: Stream, findings: Findings) -> None:
    if reading.silent:
        findings.notices.append(Liveness(stream.key, is_online=False))
        return
    words = reading.of(register)
    if words is not None:
        findings.add(stream, decoded(register, words))
        return
    for refused in reading.refused:
        if refused.concerns(register):
            detail = f"the device refused {refused.table} {refused.address}: {refused.why}"[:200]
            findings.add(stream, Fault(None, FaultReason.BAD_QUALITY, ascii(detail)[1:-1]))
            return


def _register(mapping: Mapping) -> Register:
    if not is_device_topic(mapping.topic_filter):
        raise MappingError(mapping.iri, "topic_filter", "is modbus/DEVICE, one device by its name")
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "registers are read now: leave it out")
    try:
        return Register.parse(mapping.selector)
    except ValueError as error:
        raise MappingError(mapping.iri, "selector", str(error)) from error


FORMAT = Format(
    stateless(ModbusAdapter),
    encode_command=encode_command,
    command_defect=command_defect,
)
