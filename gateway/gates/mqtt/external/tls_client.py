"""paho's client, whose TLS handshake leaves nothing behind when it fails.

Place on the way of the data: below the connections to an external broker. paho 2 forgets the socket
of a handshake that a wrong certificate ends; it would stay open until it is collected.
"""

import ssl
from typing import TYPE_CHECKING

from paho.mqtt.client import Client

if TYPE_CHECKING:
    import socket


class TlsClient(Client):
    """With `tls_set_context` of a context that checks the name of the broker."""

    def _ssl_wrap_socket(self, tcp_sock: "socket.socket") -> ssl.SSLSocket:
        """Called by paho at each connection."""
        assert self._ssl_context is not None  # noqa: S101  else paho does not call it
        wrapped = self._ssl_context.wrap_socket(
            tcp_sock, server_hostname=self._host, do_handshake_on_connect=False
        )
        try:
            wrapped.settimeout(self._connect_timeout)
            wrapped.do_handshake()
        except BaseException:
            wrapped.close()
            raise
        return wrapped
