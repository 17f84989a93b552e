"""What follows from the store's quads by axioms: derived exactly, forwards and backwards.

Place: between store and engine. The engine hands each asserted Delta to a `Reasoner` and gets the
entailed Delta; nothing derived reaches the disk.
"""
