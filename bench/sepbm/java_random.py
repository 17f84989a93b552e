"""`JavaRandom`: the pseudorandom numbers that java.util.Random documents.

Place on the way of the data: below the generator of universities, whose data sets are what they
are because of these numbers. Source: the class documentation of java.util.Random (a linear
congruential generator of 48 bits; D. E. Knuth, The Art of Computer Programming, 2, 3.2.1).
"""

_MULTIPLIER = 0x5DEECE66D
_INCREMENT = 0xB
_MASK = (1 << 48) - 1
_LARGEST = (1 << 31) - 1


class JavaRandom:
    """A sequence of numbers that its seed determines."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _MULTIPLIER) & _MASK

    def below(self, bound: int) -> int:
        """The next number of 0 to `bound` - 1; `bound` is 1 to 2**31 - 1.

        >>> numbers = JavaRandom(42)
        >>> [numbers.below(10) for _ in range(5)], numbers.below(16)
        ([0, 3, 8, 4, 0], 15)
        """
        bits = self._bits()
        if bound & (bound - 1) == 0:
            return (bound * bits) >> 31
        value = bits % bound
        while bits - value + (bound - 1) > _LARGEST:
            bits = self._bits()
            value = bits % bound
        return value

    def between(self, least: int, most: int) -> int:
        """The next number of `least` to `most`, both included."""
        return least + self.below(most - least + 1)

    def _bits(self) -> int:
        """The upper 31 of the next 48 bits."""
        self._state = (self._state * _MULTIPLIER + _INCREMENT) & _MASK
        return self._state >> 17
