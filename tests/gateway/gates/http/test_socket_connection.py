"""Frames of a socket that are written without the library are those that it writes."""

import pytest
from websockets.frames import Frame, Opcode

from gateway.gates.http.socket_connection import _frame


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 65_535, 65_536, 70_000])
def test_a_text_is_framed_as_by_the_library(length: int) -> None:
    text = ("ø" * length).encode()[:length]
    assert _frame(text) == Frame(Opcode.TEXT, text).serialize(mask=False)
