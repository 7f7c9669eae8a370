"""Makes tickets, the right to change and read one subscription, and knows them again.

A ticket is 256 random bits; the log keeps its hash alone. For a request that may come again, the
ticket is kept sealed under the idempotency key, which only the client has.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

BYTES = 32
_SALT_BYTES = 16


def new_ticket() -> str:
    """Returns a ticket that nobody can guess."""
    return secrets.token_urlsafe(BYTES)


def hash_of_ticket(ticket: str) -> bytes:
    """Returns what is kept of a ticket."""
    return hashlib.sha256(ticket.encode(errors="surrogatepass")).digest()


def fits(ticket: str, kept: bytes) -> bool:
    """Returns whether it is the ticket of which this is kept; takes the same time for any other."""
    return hmac.compare_digest(hash_of_ticket(ticket), kept)


def same(given: str, key: str) -> bool:
    """Returns whether two keys are the same; takes the same time for any other."""
    return hmac.compare_digest(hash_of_ticket(given), hash_of_ticket(key))


def sealed(ticket: str, key: str) -> str:
    """Returns a ticket that only who has the key can read."""
    salt = secrets.token_bytes(_SALT_BYTES)
    return (salt + _mixed(ticket.encode(), key, salt)).hex()


def unsealed(text: str, key: str) -> str:
    """Returns the ticket that was sealed."""
    content = bytes.fromhex(text)
    salt, mixed = content[:_SALT_BYTES], content[_SALT_BYTES:]
    return _mixed(mixed, key, salt).decode(errors="replace")


def _mixed(content: bytes, key: str, salt: bytes) -> bytes:
    """Returns the content under a pad of the key and the salt."""
    pad = hashlib.shake_256(b"tamis ticket" + salt + key.encode(errors="surrogatepass"))
    return bytes(a ^ b for a, b in zip(content, pad.digest(len(content)), strict=True))
