"""Checks where a subscription wants its deliveries, and the secret that signs them."""

from __future__ import annotations

import base64
import binascii
import secrets
from typing import Any
from urllib.parse import urlsplit

from tamis.errors import SubscriptionError
from tamis.nearest import did_you_mean
from tamis.server.changes import Webhook
from tamis.server.webhooks.addresses import Network, is_open, literal_address

PREFIX = "whsec_"
_SECRET_BYTES = 32
_FEWEST_BYTES, _MOST_BYTES = 24, 64
_LONGEST_URL = 2_048
_KEYS = ("url", "secret")
_SCHEMES = ("http", "https")


def new_secret() -> str:
    """Returns a secret that nobody can guess."""
    return PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def secret_bytes(secret: str) -> bytes:
    """Returns the key that a secret stands for; `ValueError` where it is none."""
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as bad:
        raise ValueError(str(bad)) from None


def checked_secret(secret: object) -> str:
    """Returns a secret that can be used, or an error that does not repeat it."""
    try:
        if not isinstance(secret, str) or not secret.startswith(PREFIX):
            raise ValueError("it begins with whsec_")
        if not _FEWEST_BYTES <= len(secret_bytes(secret)) <= _MOST_BYTES:
            raise ValueError("of the wrong length")
    except ValueError:
        raise SubscriptionError(
            f"webhook: a secret is {PREFIX} and {_FEWEST_BYTES} to {_MOST_BYTES} bytes in base64; "
            "leave it out to be given one"
        ) from None
    return secret


def webhook_of(value: Any, networks: tuple[Network, ...]) -> Webhook:
    """Returns the webhook that a subscription wants; what is wrong with it is a
    `SubscriptionError`."""
    wanted = {"url": value} if isinstance(value, str) else value
    if not isinstance(wanted, dict) or "url" not in wanted:
        raise SubscriptionError('webhook: an address, or {"url": …, "secret": …}')
    for name in wanted:
        if name not in _KEYS:
            hint = did_you_mean(str(name), _KEYS)
            raise SubscriptionError(f"webhook: unknown key {name!r:.80}{hint}")
    url = _checked_url(wanted["url"], networks)
    if wanted.get("secret") is None:
        return Webhook(url, new_secret(), is_made=True)
    return Webhook(url, checked_secret(wanted["secret"]))


def _checked_url(url: object, networks: tuple[Network, ...]) -> str:
    wrong = f"webhook: {url!r:.80} is no address that can be called"
    if not isinstance(url, str) or len(url) > _LONGEST_URL:
        raise SubscriptionError(f"{wrong}: give text of up to {_LONGEST_URL:,} letters")
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise SubscriptionError(f"{wrong}: write other letters as %XX, and names as xn--")
    try:
        parts = urlsplit(url)
        host = parts.hostname
        is_whole = parts.scheme in _SCHEMES and host and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole:
        raise SubscriptionError(f"{wrong}: it begins with https://HOST or http://HOST")
    if "@" in parts.netloc or parts.fragment:
        raise SubscriptionError(f"{wrong}: leave out what is before @, and what is behind #")
    literal = literal_address(host or "")
    if literal is not None and not is_open(literal, networks):
        raise SubscriptionError(f"{wrong}: this server does not call {host}")
    return url
