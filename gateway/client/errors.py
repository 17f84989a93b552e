"""What can go wrong between an agent and a broker, one tree.

    AgentError
    ├── UnreachableError        no connection, no answer in time, TLS not to be trusted
    ├── RefusedError            the broker says no: its code, status and description
    │   ├── UnauthorizedError       401, 403: no token, a wrong one, not this identity
    │   └── BusyError               429, 503: the same request may do later; `retry_after_s`
    ├── ProtocolError           what came is not of the protocol
    ├── SubscriptionEndedError  a subscription was lost and is not to be, or cannot be, had again
    ├── UnknownEntryError       the profile has no such update or query
    └── ClosedError             used after its end

Place: raised to whoever uses `gateway.client`. A wrong profile is a JsapError, a wrong value of a
forced binding a BindingError (`jsap.errors`).
"""


class AgentError(Exception):
    """Base of the tree. `str(error)` says what is wrong, `hint` what to do about it."""

    def __init__(self, description: str, hint: str = "") -> None:
        super().__init__(f"{description} ({hint})" if hint else description)
        self.description = description
        self.hint = hint


class UnreachableError(AgentError):
    """No answer. An UPDATE that was on its way may have been executed or not."""

    def __init__(self, url: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{url}: {reason}", hint or "is the broker running there?")
        self.url = url


class RefusedError(AgentError):
    """The broker's error object: `code` is its `error`, `status` its `status_code`."""

    def __init__(self, url: str, code: str, status: int, description: str, hint: str = "") -> None:
        super().__init__(f"{url}: {status} {code}: {description}", hint)
        self.url = url
        self.code = code
        self.status = status


class UnauthorizedError(RefusedError):
    """The token is missing, expired, revoked or wrong, or does not allow this."""


class BusyError(RefusedError):
    """Too much at once; nothing was done. Try again after `retry_after_s` seconds."""

    def __init__(
        self,
        url: str,
        code: str,
        status: int,
        description: str,
        retry_after_s: float = 1.0,
    ) -> None:
        hint = f"try again in {retry_after_s:g} s"
        super().__init__(url, code, status, description, hint)
        self.retry_after_s = retry_after_s


class ProtocolError(AgentError):
    """The other end does not speak the protocol."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"{url}: {reason}", "is this the URL of a SPARQL or SEPA endpoint?")
        self.url = url


class SubscriptionEndedError(AgentError):
    """No more notifications come; `spuid` names what there was."""

    def __init__(self, spuid: str, reason: str, hint: str = "subscribe again") -> None:
        super().__init__(f"subscription {spuid or '(none)'} has ended: {reason}", hint)
        self.spuid = spuid


class UnknownEntryError(AgentError):
    """An id that the profile does not have; `kind` is update or query."""

    def __init__(self, kind: str, entry_id: str, known: str) -> None:
        super().__init__(f"the profile has no {kind} {entry_id}", f"it has {known or 'none'}")
        self.kind = kind
        self.entry_id = entry_id


class ClosedError(AgentError):
    """The agent was closed, or not opened yet."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not open", "use it within `with`")


def refusal(
    url: str, code: str, status: int, description: str, retry_after_s: float = 1.0
) -> RefusedError:
    """The error for what a broker answers."""
    if status in {429, 503}:
        return BusyError(url, code, status, description, retry_after_s)
    if status in {401, 403}:
        hint = "check the credentials, and what this identity may do"
        return UnauthorizedError(url, code, status, description, hint)
    return RefusedError(url, code, status, description)
