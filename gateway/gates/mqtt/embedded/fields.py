"""`Fields`: the fields of a packet one after the other, each as the specification has it.

Place: under the decoders of CONNECT, SUBSCRIBE and UNSUBSCRIBE. Stands in for amqtt's, which take
missing and trailing bytes and broken UTF-8. Source: MQTT 3.1.1, section 1.5.
"""

from gateway.errors import BadRequestError


class Fields:
    """Reads a body from its beginning; BadRequestError where it is not what it should be.

    >>> fields = Fields(b"\\x00\\x01t\\x01")
    >>> fields.text(), fields.number(1), fields.is_at_end
    ('t', 1, True)
    """

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        """Whether nothing is left."""
        return self._at == len(self._body)

    def number(self, size: int) -> int:
        """An unsigned integer of so many bytes."""
        return int.from_bytes(self.take(size), "big")

    def data(self) -> bytes:
        """Bytes behind their number, of two bytes."""
        return self.take(self.number(2))

    def text(self) -> str:
        """A string without U+0000 and surrogates [MQTT-1.5.3-1, 1.5.3-2]; U+FEFF stays."""
        try:
            text = self.data().decode("utf-8")
        except UnicodeDecodeError:
            raise BadRequestError("a string that is not UTF-8") from None
        if "\0" in text:
            raise BadRequestError("a string with U+0000")
        return text

    def take(self, size: int) -> bytes:
        """So many bytes."""
        taken = self._body[self._at : self._at + size]
        if len(taken) < size:
            raise BadRequestError("a packet that ends within a field")
        self._at += size
        return taken

    def end(self) -> None:
        """Nothing may be left."""
        if not self.is_at_end:
            raise BadRequestError("a packet with bytes behind its last field")
