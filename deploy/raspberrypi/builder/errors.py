"""What a person is told when a package cannot be built."""


class BuildError(Exception):
    """What is wrong, and what to do about it."""

    def __init__(self, description: str, hint: str) -> None:
        super().__init__(f"{description}\nwhat to do: {hint}")
