"""Checks SPARQL queries: those are taken that only read what the event and the ontology say.

A query is read token by token, as its grammar has tokens, before anything runs it: `SERVICE`,
`FROM` and updates are refused wherever they are words of the query, and are welcome inside strings,
IRIs, names and comments. Refused are also functions that do not depend on the facts (`NOW`, `RAND`,
`UUID`, `STRUUID`, `BNODE`), for answers are kept. Where two readers of SPARQL could see different
tokens (an `<` that may begin an IRI or compare), the query is refused as well, with what to write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pyoxigraph as ox

from tamis import ArgumentError

_TOKENS = re.compile(
    r"""
      (?P<space>[\ \t\r\n]+)
    | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
    | (?P<comment>\#[^\r\n]*)
    | (?P<string>\"\"\"(?:(?:\"|\"\")?(?:[^"\\]|\\.))*\"\"\"
        |'''(?:(?:'|'')?(?:[^'\\]|\\.))*'''
        |"(?:[^"\\\r\n]|\\.)*"
        |'(?:[^'\\\r\n]|\\.)*')
    | (?P<variable>[?$]\w+)
    | (?P<blank>_:[\w.\-·]+)
    | (?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    | (?P<name>(?:[^\W\d_](?:[\w.\-·]*[\w\-·])?)?:
        (?:[\w.\-·:]|%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?\#@%])*)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<sign>\^\^|&&|\|\||!=|<=|>=|<<|>>|[{}()\[\],;.=<>!+\-*/|^?&])
    """,
    re.VERBOSE | re.DOTALL,
)
_REFUSED = {
    "SERVICE": "it asks another server, and nothing is fetched",
    "LOAD": "it fetches a document, and nothing is fetched",
    **dict.fromkeys(
        ("FROM", "GRAPH"), "there are only the facts of the event and the ontology, as one graph"
    ),
    **dict.fromkeys(
        ("INSERT", "DELETE", "CLEAR", "DROP", "CREATE", "COPY", "MOVE"), "a query changes nothing"
    ),
    **dict.fromkeys(
        ("NOW", "RAND", "UUID", "STRUUID", "BNODE"),
        "an answer depends on the facts of the event alone",
    ),
    **dict.fromkeys(("CONSTRUCT", "DESCRIBE"), "a query is an ASK or a SELECT"),
}
_LONGEST = 65_536
_PLAIN_IRI = re.compile(r"<[A-Za-z][A-Za-z0-9+.\-]*://[^']*>|<[^#']*>")
_HIDDEN = re.compile(r"\\(?:u(?P<short>[0-9A-Fa-f]{4})|U(?P<long>[0-9A-Fa-f]{8}))")
_STRUCTURE = frozenset("\"'\\<>{}#\r\n")


def words_of(query: str) -> Iterator[tuple[str, int]]:
    """Yields the bare words of a query in upper case, and where they stand."""
    at = 0
    while at < len(query):
        found = _TOKENS.match(query, at)
        if found is None:
            raise ArgumentError(
                f"the query cannot be read at {query[at : at + 20]!r} {_place(query, at)}"
            )
        kind, text = found.lastgroup, found[0]
        if kind == "iri" and _PLAIN_IRI.fullmatch(text) is None:
            raise ArgumentError(
                f"{text:.60} {_place(query, at)} may be an IRI or a comparison: "
                "put a space after <, or use a prefix"
            )
        if kind in ("string", "iri", "name"):
            _refuse_hidden(text, query, at)
        if kind == "word":
            yield text.upper(), at
        at = found.end()


def _refuse_hidden(text: str, query: str, at: int) -> None:
    """Escapes that stand for what could end a token, for readers who undo them first."""
    for escape in _HIDDEN.finditer(text):
        number = int(escape["short"] or escape["long"], 16)
        if number > 0x10FFFF or chr(number) in _STRUCTURE:
            raise ArgumentError(f"the escape {escape[0]} is refused {_place(query, at)}")


def _place(query: str, at: int) -> str:
    line = query.count("\n", 0, at) + 1
    return f"(line {line}, column {at - query.rfind(chr(10), 0, at)} of the query)"


def checked_query(query: object, prefixes: Mapping[str, str], wanted: str) -> list[str]:
    """Returns the variables of an ASK or SELECT, as wanted; else `ArgumentError`."""
    if not isinstance(query, str):
        raise ArgumentError(f"a query is a string, not {query!r}")
    if len(query) > _LONGEST:
        raise ArgumentError(f"the query has {len(query):,} characters, {_LONGEST:,} are allowed")
    for word, at in words_of(query):
        reason = _REFUSED.get(word)
        if reason is not None:
            raise ArgumentError(f"{word} is refused: {reason} {_place(query, at)}")
    try:
        result = ox.Store().query(query, prefixes=dict(prefixes))
    except SyntaxError as failure:
        raise ArgumentError(f"the query cannot be read: {failure.msg}") from None
    except (ValueError, OSError) as failure:
        raise ArgumentError(f"the query cannot be answered: {failure}") from None
    kind = "ASK" if isinstance(result, ox.QueryBoolean) else "SELECT"
    if kind != wanted:
        other = "select('…', ?a)" if kind == "SELECT" else "ask('…')"
        raise ArgumentError(f"this is a query for {other}: here stands {_article(wanted)}")
    if isinstance(result, ox.QuerySolutions):
        return [variable.value for variable in result.variables]
    return []


def _article(kind: str) -> str:
    return "an ASK query" if kind == "ASK" else "a SELECT query"
