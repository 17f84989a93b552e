"""What can be asked of several gateways at all, whichever door a request came by."""

from dataclasses import replace

from gateway.engine import SubscribeRequest
from gateway.engine.request import ALL_GATEWAYS
from gateway.engine.spu import EVENT, UNION
from gateway.errors import BadRequestError
from gateway.federation.needs import Scope


def scope_of(request: SubscribeRequest) -> Scope:
    """The members that a request names; None is all, now and later."""
    return None if request.gateways == ALL_GATEWAYS else frozenset(request.gateways or ())


def no_federation() -> BadRequestError:
    """Somebody names gateways where there is no federation."""
    return BadRequestError(
        "the request names gateways, and this one has no federation",
        "leave out `gateways`, or set up [federation]",
    )


def require_plain(request: SubscribeRequest) -> None:
    """Raise BadRequestError for what cannot be asked of others, with the reason."""
    if request.infer:
        raise BadRequestError(
            "what follows by axioms is known of this gateway's quads alone",
            "leave out `infer`, or `gateways`",
        )
    if request.windows or request.output != "changes":
        raise BadRequestError(
            "windows are over the streams of this gateway alone",
            "leave out `windows` and `output`, or `gateways`",
        )


def asked_here(request: SubscribeRequest) -> SubscribeRequest:
    """The same of this gateway alone. Raises BadRequestError for what no other can be asked."""
    if request.gateways is None:
        return request
    require_plain(request)
    mode = EVENT if request.mode == EVENT else UNION
    return replace(request, gateways=None, mode=mode, after=(), absent="keep")
