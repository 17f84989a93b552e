"""The gateway on a small computer: what it writes to a card, what it takes of a core, for how long.

Everything here runs on the machine at hand, pinned to one core and bounded in memory: an emulation,
whose figures say how things grow and not how fast a certain board is.
"""
