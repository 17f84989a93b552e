"""Every error of the gateway, one tree; raised where the fault is known, answered at a gate.

    GatewayError
    ├── ClientError             the peer asked for something impossible
    │   ├── SparqlSyntaxError       400  sparql_syntax         the text is not SPARQL 1.1
    │   ├── UnsupportedQueryError   400  unsupported_query     a form, function or host not offered
    │   ├── UpdateFailedError       400  update_failed         an UPDATE raised; nothing changed
    │   ├── BadRequestError         400  bad_request           malformed request or message
    │   │   ├── NoReasoningError        400  bad_request           `infer`, and nothing reasons
    │   │   └── WindowError             400  bad_request           a declaration of a window
    │   ├── UnauthorizedError       401  invalid_request       no token, or none that can be read
    │   │   ├── UnsupportedGrantError   401  unsupported_grant_type  the scheme is not Bearer
    │   │   ├── InvalidTokenError       401  invalid_grant         forged, expired or revoked
    │   │   ├── InvalidClientError      401  invalid_client        Basic credentials that are none
    │   │   ├── UnknownClientError      400  unauthorized_client   unknown client or wrong secret
    │   │   ├── NoCredentialsError      401  unauthorized_client   a token asked for without them
    │   │   └── UnknownIdentityError    401  not_authorized_identity  nobody allowed it to register
    │   ├── GrantRefusedError       400  invalid_grant         registers for another grant
    │   ├── GrantTypeError          400  unsupported_grant_type  a token by another grant
    │   ├── ContentTypeError        400  content_type_error    /oauth takes JSON or a form
    │   ├── AcceptError             400  accept_error          /oauth answers with JSON
    │   ├── ForbiddenError          403  forbidden             the rights do not allow it
    │   ├── NotFoundError           404  not_found             no such subscription, path, id
    │   ├── InvalidMappingError     400  invalid_mapping       a mapping that does not compile
    │   ├── OntologyError           400  ontology              axioms that cannot be read
    │   ├── NotAcceptableError      406  not_acceptable        no media type that fits
    │   ├── RequestTimeoutError     408  request_timeout       a body that comes too slowly
    │   ├── ConflictError           409  conflict              somebody else changed it since
    │   ├── CannotResumeError       410  cannot_resume         subscribe again
    │   ├── ChecksumError           422  checksum              a file is not what its name says
    │   ├── TooLargeError           413  too_large             a size limit was passed
    │   │   ├── TooComplexError         413  too_complex           a query of too much form
    │   │   ├── DerivedLimitError       413  derived_limit         more would follow than may
    │   │   └── TooManySolutionsError   413  too_many_solutions    a query has too many solutions
    │   ├── UnsupportedMediaTypeError 415 unsupported_media_type  a Content-Type we cannot read
    │   └── TooManyRequestsError    429  too_many_requests     URQ or SRQ is full
    ├── SubscriptionFailedError 500  subscription_failed   a subscription cannot be served any more
    ├── WindowFullError         507  window_full           a window holds more than it may
    ├── ConfigurationError      500  configuration         gateway.toml, JSAP, mapping
    ├── OverloadedError         503  overloaded            a limit of the whole gateway is reached
    ├── SuspendedError          503  suspended             more follows than `derived` allows
    ├── QueryTimeoutError       503  query_timeout         a QUERY past its time
    ├── FederationIncompleteError 503 federation_incomplete  a gateway that was asked is missing
    ├── ShippingError           503  shipping              a landing zone not reached, or wrong
    ├── UpgradeError            500  upgrade               a release not taken, or gone back from
    └── StorageError            503  storage               disk full, store or journal broken
        └── UnreachableError        503  storage               no gateway answers there

`code` and `http_status` are stable and part of the wire protocol (docs/errors.md).
"""

from collections.abc import Sequence
from typing import ClassVar, Self


class GatewayError(Exception):
    """Base of the tree. `str(error)` says what is wrong; `hint` says what to do about it."""

    code: ClassVar[str] = "internal"
    http_status: ClassVar[int] = 500

    def __init__(self, description: str, hint: str = "") -> None:
        super().__init__(description)
        self.description = description
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.description} ({self.hint})" if self.hint else self.description


class ClientError(GatewayError):
    """The peer's fault: repeating the same request fails again."""

    code = "bad_request"
    http_status = 400


class SparqlSyntaxError(ClientError):
    """The text is not SPARQL 1.1; `line` and `column` are 1-based where the place is known."""

    code = "sparql_syntax"

    def __init__(
        self, description: str, line: int | None = None, column: int | None = None
    ) -> None:
        place = "" if line is None else f" at line {line}, column {column}"
        super().__init__(f"{description}{place}", "correct the SPARQL text")
        self.line = line
        self.column = column


class UnsupportedQueryError(ClientError):
    """Legal, and not to be had: no exact subscription (DESCRIBE, RAND ...), a function, a host."""

    code = "unsupported_query"


class UpdateFailedError(ClientError):
    """An UPDATE that raised while it was evaluated; store and subscribers are untouched."""

    code = "update_failed"


class BadRequestError(ClientError):
    """A malformed request or message."""


class NoReasoningError(BadRequestError):
    """A request with `infer` where no graph is reasoned on."""

    def __init__(self) -> None:
        super().__init__(
            "infer is asked for, and this gateway does not reason",
            "leave infer out, or name graphs in [reasoning]",
        )


class WindowError(BadRequestError):
    """A member `windows`, or one beside it, that cannot be: `member` says which, `reason` why."""

    def __init__(self, member: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{member}: {reason}" if member else reason, hint)
        self.member = member
        self.reason = reason

    def within(self, where: str) -> Self:
        """The same, of a member of `where`."""
        return type(self)(
            f"{where}: {self.member}" if self.member else where, self.reason, self.hint
        )

    def __reduce__(self) -> tuple[type, tuple[str, str, str]]:
        """For the way from another process."""
        return type(self), (self.member, self.reason, self.hint)


class UnauthorizedError(ClientError):
    """Who asks is not known: no token, or none that can be read (SEPA's `invalid_request`)."""

    code = "invalid_request"
    http_status = 401


class UnsupportedGrantError(UnauthorizedError):
    """An authorization of another scheme than Bearer."""

    code = "unsupported_grant_type"


class InvalidTokenError(UnauthorizedError):
    """The token is forged, expired or revoked; SEPA's clients ask for a new one and repeat."""

    code = "invalid_grant"


class InvalidClientError(UnauthorizedError):
    """A request for a token without credentials of the form that RFC 7617 asks for."""

    code = "invalid_client"


class UnknownClientError(UnauthorizedError):
    """A request for a token by an unknown client, or with a wrong secret; which is not told."""

    code = "unauthorized_client"
    http_status = 400


class NoCredentialsError(UnauthorizedError):
    """A request for a token without credentials."""

    code = "unauthorized_client"


class UnknownIdentityError(UnauthorizedError):
    """Nobody has allowed this identity to register, or it has registered already."""

    code = "not_authorized_identity"


class GrantRefusedError(ClientError):
    """A registration for another grant than client credentials, in SEPA's words."""

    code = "invalid_grant"


class GrantTypeError(ClientError):
    """A request for a token by another grant than client credentials (RFC 6749, 5.2)."""

    code = "unsupported_grant_type"


class ContentTypeError(ClientError):
    """A body for /oauth that is neither JSON nor a form, in SEPA's words."""

    code = "content_type_error"


class AcceptError(ClientError):
    """/oauth answers with JSON, which the client does not accept; in SEPA's words."""

    code = "accept_error"


class ForbiddenError(ClientError):
    """The rights of the request do not allow it; nothing has changed."""

    code = "forbidden"
    http_status = 403


class NotFoundError(ClientError):
    """No such subscription, path or id."""

    code = "not_found"
    http_status = 404


class InvalidMappingError(ClientError):
    """A mapping that is none, or that does not compile beside the others; nothing has changed."""

    code = "invalid_mapping"


class OntologyError(ClientError):
    """Axioms that cannot be read or are not allowed; names the node, and nothing has changed."""

    code = "ontology"


class ConflictError(ClientError):
    """What is asked for does not fit what is there now; nothing has changed."""

    code = "conflict"
    http_status = 409


class NotAcceptableError(ClientError):
    """None of the media types that the client accepts can be written."""

    code = "not_acceptable"
    http_status = 406


class RequestTimeoutError(ClientError):
    """The body of a request came too slowly."""

    code = "request_timeout"
    http_status = 408


class CannotResumeError(ClientError):
    """Unknown, another identity's, expired, or too far behind: which of them is not told."""

    code = "cannot_resume"
    http_status = 410

    def __init__(self) -> None:
        super().__init__("this subscription cannot be resumed", "subscribe again")


class UnsupportedMediaTypeError(ClientError):
    """The Content-Type is none of the protocol's."""

    code = "unsupported_media_type"
    http_status = 415


class TooLargeError(ClientError):
    """A request or message beyond its size limit."""

    code = "too_large"
    http_status = 413


class TooComplexError(TooLargeError):
    """A SPARQL text of more form than [limits] query_patterns, _steps, _operators, _depth allow."""

    code = "too_complex"


class DerivedLimitError(TooLargeError):
    """More quads would be derived than [reasoning] derived allows; nothing has changed."""

    code = "derived_limit"


class TooManySolutionsError(TooLargeError):
    """A query has more solutions than `limit`, which [limits] query_solutions sets."""

    code = "too_many_solutions"

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"the query has more than {limit} solutions",
            "ask for less with FILTER or LIMIT, or raise [limits] query_solutions",
        )
        self.limit = limit

    def __reduce__(self) -> tuple[type, tuple[int]]:
        """For the way from another process."""
        return type(self), (self.limit,)


class TooManyRequestsError(ClientError):
    """A bounded queue is full; try again after `retry_after_s` seconds."""

    code = "too_many_requests"
    http_status = 429

    def __init__(self, description: str, retry_after_s: float = 1.0) -> None:
        super().__init__(description, f"try again in {retry_after_s:g} s")
        self.retry_after_s = retry_after_s


class SuspendedError(GatewayError):
    """What follows in a graph is not known: too much does; `reason` names the axiom."""

    code = "suspended"
    http_status = 503

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"reasoning is suspended: {reason}",
            "leave infer out, or change the axioms, or raise [reasoning] derived",
        )


class OverloadedError(GatewayError):
    """The gateway as a whole has no room; try again after `retry_after_s` seconds."""

    code = "overloaded"
    http_status = 503

    def __init__(self, description: str, retry_after_s: float = 1.0) -> None:
        super().__init__(description, f"try again in {retry_after_s:g} s")
        self.retry_after_s = retry_after_s


class QueryTimeoutError(GatewayError):
    """A query took longer than `limit_s` seconds, which [limits] query_s sets."""

    code = "query_timeout"
    http_status = 503

    def __init__(self, limit_s: float) -> None:
        super().__init__(
            f"the query took longer than {limit_s:g} s",
            "ask for less at once, join on fewer solutions, or raise [limits] query_s",
        )
        self.limit_s = limit_s

    def __reduce__(self) -> tuple[type, tuple[float]]:
        """For the way from another process."""
        return type(self), (self.limit_s,)


class FederationIncompleteError(GatewayError):
    """The gateways `missing` have not told what a QUERY that names them needs."""

    code = "federation_incomplete"
    http_status = 503

    def __init__(self, missing: Sequence[str]) -> None:
        what = f"missing: {', '.join(missing)}"
        super().__init__(
            what, "ask again later, or with missing=allow for the answer of the others"
        )
        self.missing = tuple(missing)


class ConfigurationError(GatewayError):
    """gateway.toml, a JSAP profile or a mapping is wrong; names file and line or path."""

    code = "configuration"


class SubscriptionFailedError(GatewayError):
    """A subscription that was served until now cannot be any more; it has ended."""

    code = "subscription_failed"


class WindowFullError(GatewayError):
    """A window would hold more than `limit`, which `setting` sets; what sees it has ended.

    `window` is for a person: its stream, and how much of it.
    """

    code = "window_full"
    http_status = 507

    def __init__(self, window: str, limit: int, what: str, setting: str) -> None:
        super().__init__(
            f"{window} would make it more than {limit} {what}",
            f"see less of the stream, narrow it, raise {setting}, or let the oldest go by "
            "overflow: oldest",
        )
        self.window = window
        self.limit = limit
        self.what = what
        self.setting = setting

    def __reduce__(self) -> tuple[type, tuple[str, int, str, str]]:
        """For the way from another process."""
        return type(self), (self.window, self.limit, self.what, self.setting)


class StorageError(GatewayError):
    """The disk, the store or the journal does not do its work."""

    code = "storage"
    http_status = 503


class UnreachableError(StorageError):
    """Nobody answers at the address of a gateway."""


class UpgradeError(GatewayError):
    """A release that is not taken, or that was and is gone back from."""

    code = "upgrade"


class ShippingError(GatewayError):
    """A landing zone is not reached, refuses a segment, or gave back other bytes."""

    code = "shipping"
    http_status = 503


class ChecksumError(ClientError):
    """An uploaded segment does not have the checksum that its name or its head says."""

    code = "checksum"
    http_status = 422
