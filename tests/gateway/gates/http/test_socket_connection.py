"""Frames of a socket that are written without the library are those that it writes."""

from types import SimpleNamespace

import pytest
from websockets.frames import Frame, Opcode

from gateway.gates.http.socket_connection import SocketConnection, _frame


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 65_535, 65_536, 70_000])
def test_a_text_is_framed_as_by_the_library(length: int) -> None:
    text = ("ø" * length).encode()[:length]
    assert _frame(text) == Frame(Opcode.TEXT, text).serialize(mask=False)


@pytest.mark.parametrize("is_extended", [False, True])
def test_messages_that_are_told_together_are_one_write(is_extended: bool) -> None:
    frames: list[bytes] = []
    written: list[bytes] = []

    def send_text(text: bytes) -> None:
        frames.append(Frame(Opcode.TEXT, text).serialize(mask=False))

    connection = SimpleNamespace(
        conn=SimpleNamespace(
            extensions=[object()] if is_extended else [],
            send_text=send_text,
            data_to_send=lambda: frames,
        ),
        transport=SimpleNamespace(write=written.append),
    )
    SocketConnection.tell(connection, ["a", "ø" * 100])  # type: ignore[arg-type]
    SocketConnection.tell(connection, [])  # type: ignore[arg-type]
    texts = [b"a", ("ø" * 100).encode()]
    assert written == [b"".join(Frame(Opcode.TEXT, t).serialize(mask=False) for t in texts)]
