"""`Connection`: requests sent over HTTP, with a token where the broker wants one.

Place: under every agent; one pool of HTTP connections and one token for all that it does.
Registration and token are JSON, client credentials stand in a Basic header; a token that has
expired is 401 `invalid_grant`. Sources: SPARQL 1.1 Protocol; SPARQL 1.1 SE protocol (Roffia et al.,
"Dynamic Linked Data: A SPARQL Event Processing Architecture", 2018, section 3.4).
"""

import ssl
from collections.abc import Mapping
from time import monotonic
from typing import Any

import httpx

from gateway.client.errors import AgentError, ProtocolError, UnauthorizedError, UnreachableError
from gateway.client.requests import HttpRequest, refused
from gateway.client.settings import Credentials, Settings
from jsap.endpoints import OAuth

_EARLY_S = 2.0
"""A token is renewed this long before its end, a fifth of its life at most."""


class Connection:
    """HTTP to one or more brokers; an async context manager."""

    def __init__(self, settings: Settings, oauth: OAuth) -> None:
        self.settings = settings
        self.tls: ssl.SSLContext = settings.tls()
        self._http = httpx.AsyncClient(
            verify=self.tls, timeout=settings.timeout_s, trust_env=False, follow_redirects=False
        )
        self._tokens = _Tokens(self, settings, oauth) if _wants_tokens(settings, oauth) else None

    async def close(self) -> None:
        """Close the pool of connections."""
        await self._http.aclose()

    async def authorization(self) -> str | None:
        """`Bearer …`, None where the broker wants none. Raises AgentError."""
        return None if self._tokens is None else await self._tokens.bearer()

    def renew(self, error: UnauthorizedError) -> bool:
        """Whether asking again with a new token may help; the next one will be new."""
        if self._tokens is None or error.status != 401:
            return False
        return self._tokens.forget()

    async def send(self, request: HttpRequest) -> httpx.Response:
        """The answer, below 300. Raises AgentError; once a token is renewed where that may help."""
        try:
            return await self._send(request)
        except UnauthorizedError as error:
            if not self.renew(error):
                raise
        return await self._send(request)

    async def _send(self, request: HttpRequest) -> httpx.Response:
        bearer = await self.authorization()
        return await self.plain(request, {} if bearer is None else {"Authorization": bearer})

    async def plain(self, request: HttpRequest, headers: Mapping[str, str]) -> httpx.Response:
        """The answer, below 300, without a token of ours. Raises AgentError."""
        body: dict[str, Any] = {}
        if isinstance(request.body, Mapping):
            body = {"data": request.body}
        elif request.body is not None:
            body = {"content": request.body}
        try:
            response = await self._http.request(
                request.method,
                request.url,
                params=list(request.parameters) or None,
                headers={**request.headers, **headers},
                **body,
            )
        except httpx.TimeoutException as error:
            reason = f"no answer within {self.settings.timeout_s:g} s"
            raise UnreachableError(request.url, reason) from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise unreachable(request.url, error) from error
        if response.status_code >= 300:
            retry_after = response.headers.get("retry-after")
            raise refused(request.url, response.status_code, response.content, retry_after)
        return response


def unreachable(url: str, error: BaseException) -> UnreachableError:
    """The error for a connection that does not come about."""
    reason = str(error) or type(error).__name__
    if "CERTIFICATE_VERIFY_FAILED" in reason:
        return UnreachableError(url, reason, "name the certificate of its CA as `ca_file`")
    return UnreachableError(url, reason)


def _wants_tokens(settings: Settings, oauth: OAuth) -> bool:
    known = settings.credentials or settings.identity or settings.credentials_file
    return oauth.enabled or known is not None


class _Tokens:
    """Registers where it has to, gets tokens, and knows when they end."""

    def __init__(self, connection: Connection, settings: Settings, oauth: OAuth) -> None:
        self._connection = connection
        self._settings = settings
        self._oauth = oauth
        self._credentials: Credentials | None = None
        self._bearer: str | None = None
        self._ends = 0.0

    def forget(self) -> bool:
        """Do without this token; False where there was none to forget."""
        had, self._bearer = self._bearer is not None, None
        return had

    async def bearer(self) -> str:
        """A token that is good for now. Raises AgentError."""
        if self._bearer is None or monotonic() >= self._ends:
            self._bearer = await self._token()
        return self._bearer

    async def _token(self) -> str:
        url = _needed(self._oauth.token_url, "tokenRequest")
        credentials = await self._known()
        basic = httpx.BasicAuth(credentials.client_id, credentials.client_secret)
        authorization = next(basic.auth_flow(httpx.Request("POST", url))).headers["Authorization"]
        asked = HttpRequest("POST", url, (), {**_JSON, "Authorization": authorization}, b"")
        members = _json(url, await self._connection.plain(asked, {}))
        token = members.get("token", members)
        try:
            lasts_s = float(token.get("expires_in", 0))
            self._ends = monotonic() + lasts_s - min(_EARLY_S, lasts_s / 5)
            return f"Bearer {token['access_token']}"
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ProtocolError(url, "no token in the answer") from error

    async def _known(self) -> Credentials:
        """Credentials given, kept, in the profile, or got by registration; in this order."""
        if self._credentials is None:
            self._credentials = (
                self._settings.credentials
                or self._kept()
                or self._of_profile()
                or await self._register()
            )
        return self._credentials

    def _kept(self) -> Credentials | None:
        path = self._settings.credentials_file
        return None if path is None else Credentials.load(path)

    def _of_profile(self) -> Credentials | None:
        client_id, secret = self._oauth.client_id, self._oauth.client_secret
        return Credentials(client_id, secret) if client_id and secret else None

    async def _register(self) -> Credentials:
        identity = self._settings.identity or self._oauth.identity
        if identity is None:
            reason = "the broker wants a token, and nobody says who asks"
            raise AgentError(reason, "give Settings an identity or credentials")
        url = _needed(self._oauth.register_url, "register")
        wanted = {"client_identity": identity, "grant_types": ["client_credentials"]}
        body = httpx.Request("POST", url, json={"register": wanted}).content
        headers = {**_JSON, "Content-Type": "application/json"}
        members = _json(
            url, await self._connection.plain(HttpRequest("POST", url, (), headers, body), {})
        )
        try:
            given = members["credentials"]
            credentials = Credentials(given["client_id"], given["client_secret"])
        except (KeyError, TypeError) as error:
            raise ProtocolError(url, "no credentials in the answer") from error
        if self._settings.credentials_file is not None:
            credentials.save(self._settings.credentials_file)
        return credentials


_JSON = {"Accept": "application/json"}


def _needed(url: str | None, member: str) -> str:
    if url is None:
        reason = "the broker wants a token, and the profile does not say where to get one"
        raise AgentError(reason, f"give `oauth.{member}` in the profile")
    return url


def _json(url: str, response: httpx.Response) -> dict[str, Any]:
    try:
        members = response.json()
    except ValueError as error:
        raise ProtocolError(url, f"the answer is no JSON: {error}") from error
    if not isinstance(members, dict):
        raise ProtocolError(url, "the answer is no JSON object")
    return members
