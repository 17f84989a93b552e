"""Binary floating-point numbers (IEEE 754) as the decimal texts that devices mean by them."""

import math
import struct
from typing import Literal

Order = Literal["big", "little"]


def float_text(run: bytes, order: Order) -> str | None:
    """The shortest decimal that is this binary32 or binary64 again; None for NaN and infinity.

    >>> float_text(struct.pack(">f", 0.1), "big")
    '0.1'
    """
    code = (">" if order == "big" else "<") + ("f" if len(run) == 4 else "d")
    (number,) = struct.unpack(code, run)
    if not math.isfinite(number):
        return None
    if len(run) == 8:
        return repr(number)
    texts = (f"{number:.{digits}g}" for digits in range(6, 10))
    return repr(float(next(text for text in texts if struct.pack(code, float(text)) == run)))
