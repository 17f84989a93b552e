"""`SingleMember`: what all units have in common that serve one SPU."""

from gateway.engine.lutt import Artq, LuttEntry
from gateway.engine.spu import Spu


class SingleMember:
    """A member, its LUTT, and how often something came through."""

    def __init__(self, spu: Spu, lutt: tuple[LuttEntry, ...]) -> None:
        self.members = (spu,)
        self.lutt = lutt
        self._hits = 0

    @property
    def context(self) -> tuple[LuttEntry, ...]:
        """It looks up nothing."""
        return ()

    def reach(self, artq: Artq) -> int:
        """The one member."""
        del artq
        self._hits += 1
        return 1

    def hits(self, spu: Spu) -> int:
        """How many updates reached it."""
        del spu
        return self._hits
