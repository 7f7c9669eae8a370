"""Results and explanations in a notebook: all there, escaped, and cut where they are many."""

from __future__ import annotations

from html.parser import HTMLParser

import tamis


def result_of(where: str, event: dict[str, object]) -> tamis.Result:
    @tamis.operator(inputs=("people",), outputs=("count",))
    def peopleCount(event: tamis.Event, count: object) -> object:
        return [event["people"]]  # type: ignore[index]

    matcher = tamis.Matcher(operators=[peopleCount])
    matcher.subscribe(where, id="s<1>")
    return matcher.match({"id": "e&1", **event})


class Text(HTMLParser):
    """The text of a page, whose elements are closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_notebook_shows_results_and_explanations() -> None:
    result = result_of("peopleCount(?n), ?n > 5", {"people": 9})
    shown = Text(result._repr_html_()).text
    assert "e&1" in shown
    assert "s<1>" in shown
    assert "n = 9" in shown
    explained = Text(result.explain("s<1>")._repr_html_()).text
    assert "s<1> matches e&1" in explained
    undetermined = result_of("peopleCount(?n), ?n > 5", {"people": {"many": 1}})
    assert "invalid answer" in Text(undetermined._repr_html_()).text


def test_many_matches_are_cut_in_a_notebook() -> None:
    matcher = tamis.Matcher(operators=[])
    matcher.subscribe_many({"id": f"s{at}", "where": "a = 1"} for at in range(1_030))
    assert "and 1,010 more" in Text(matcher.match({"a": 1})._repr_html_()).text
