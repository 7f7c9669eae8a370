"""Checks inputs that are a file's path, an address, or the content itself."""

from __future__ import annotations

import os

import pytest

from tamis.event import Event
from tamis.event.paths import ADDRESS, CONTENT, FILE, form_of


@pytest.mark.parametrize(
    ("name", "value", "form"),
    [
        ("image", "frame.png", FILE),
        ("image", "/frames/frame.png", FILE),
        ("image", "c:frame.png", FILE),
        ("image", "http://host/frame.png", ADDRESS),
        ("image", "data:image/png;base64,AAAA", CONTENT),
        ("image", "", CONTENT),
        ("image", b"\x89PNG", CONTENT),
        ("facts", "facts.ttl", FILE),
        ("facts", "FACTS.OWL", FILE),
        ("facts", "facts.txt", CONTENT),
        ("facts", "ex:a ex:b ex:c .", CONTENT),
        ("facts", "http://host/facts.ttl", ADDRESS),
        ("title", "frame.png", CONTENT),
        ("image", None, CONTENT),
    ],
)
def test_the_form_of_an_input(name: str, value: object, form: str) -> None:
    assert form_of(name, value) == form
    if value is not None:
        seen = Event({name: value}, "e", folder="there").view((name,))[name]
        assert seen == (os.path.join("there", str(value)) if form == FILE else value)
