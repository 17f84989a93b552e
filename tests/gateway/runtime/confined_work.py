"""What a confined process of the tests does: as it is told, and mostly something bad."""

import ctypes
import os
from collections.abc import Callable
from time import sleep

from gateway.errors import BadRequestError, QueryTimeoutError, TooManySolutionsError
from gateway.runtime.confinement import serve

ERRORS = (BadRequestError("no", "yes"), TooManySolutionsError(5), QueryTimeoutError(2.0))


def main(memory_bytes: int) -> None:
    serve(_handle, memory_bytes)


def _handle(request: tuple[str, int]) -> bytes:
    what, number = request
    return _WORK.get(what, _nothing)(number)


def _nothing(_: int) -> bytes:
    return b""


def _sleep(seconds: int) -> bytes:
    sleep(seconds)
    return b""


def _spin(_: int) -> bytes:
    while True:
        pass


def _keep(length: int) -> bytes:
    _KEPT.append(bytearray(os.urandom(length)))
    return b""


def _abort(_: int) -> bytes:
    os.abort()


def _error(number: int) -> bytes:
    raise ERRORS[number]


def _print(_: int) -> bytes:
    os.write(1, b"noise" * 1000)
    return b""


_KEPT: list[bytearray] = []
_WORK: dict[str, Callable[[int], bytes]] = {
    "length": lambda length: b"x" * length,
    "pid": lambda _: str(os.getpid()).encode(),
    "files": lambda _: " ".join(os.listdir("/proc/self/fd")).encode(),
    "memory": lambda length: str(len(bytearray(length))).encode(),
    "crash": lambda _: ctypes.string_at(0),
    "defect": lambda _: bytes([1 // 0]),
    "sleep": _sleep,
    "spin": _spin,
    "keep": _keep,
    "abort": _abort,
    "error": _error,
    "print": _print,
}
