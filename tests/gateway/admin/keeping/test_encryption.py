"""A stream that only the passphrase opens, whole or not at all."""

import io

import pytest

from gateway.admin.keeping.encryption import MAGIC, decrypted, encrypted
from gateway.errors import BadRequestError

CHUNK = 65_536


def sealed(*chunks: bytes) -> bytes:
    return b"".join(encrypted(chunks, "open sesame"))


def opened(content: bytes, passphrase: str = "open sesame") -> bytes:
    assert content.startswith(MAGIC)
    return b"".join(decrypted(io.BytesIO(content[len(MAGIC) :]), passphrase))


def test_what_goes_in_comes_out_at_every_length_about_a_chunk() -> None:
    whole = bytes(range(256)) * (2 * CHUNK // 256 + 1)
    for length in (0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK):
        assert (
            opened(sealed(whole[:100], whole[100:length] if length > 100 else b""))
            == (whole[: max(length, 100)])
        )
    assert opened(sealed()) == b""


def test_two_of_the_same_are_not_alike() -> None:
    one, other = sealed(b"same"), sealed(b"same")
    assert one != other
    assert b"same" not in one


def test_another_passphrase_opens_nothing() -> None:
    with pytest.raises(BadRequestError, match="passphrase"):
        opened(sealed(b"secret"), "open says me")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda content: content[:-1],
        lambda content: content[: len(MAGIC) + 10],
        lambda content: content[: len(MAGIC) + 23 + CHUNK + 16],
        lambda content: content[:-5] + bytes([content[-5] ^ 1]) + content[-4:],
        lambda content: content + b"more",
    ],
    ids=["short of a byte", "no more than a head", "without the last chunk", "a bit", "longer"],
)
def test_what_was_cut_or_changed_is_refused(spoil: object) -> None:
    content = spoil(sealed(bytes(CHUNK + 1000)))  # type: ignore[operator]
    with pytest.raises(BadRequestError):
        opened(content)
