"""Checks the errors of texts: the line, the column, the caret, and what was expected."""

from __future__ import annotations

import pytest

from tamis import SubscriptionError

from .reading import refusal

Case = tuple[str, int, str]

CONNECTIVES: list[Case] = [
    ("", 1, "empty"),
    ("   \n ", 1, "empty"),
    ("a = 1 b = 2", 7, "expected and, or, ',' or the end, found 'b'"),
    ("a = 1 and", 10, "expected a condition after 'and'"),
    ("a = 1 or ", 10, "expected a condition after 'or'"),
    ("a = 1,", 7, "expected a condition after ','"),
    ("a = 1,, b = 2", 7, "expected a condition after ','"),
    ("and a = 1", 1, "expected a condition"),
    ("a = 1 and or b = 2", 11, "expected a condition"),
    ("not", 4, "expected a condition"),
    ("(a = 1", 1, "this '(' is never closed"),
    ("{a = 1", 1, "this '{' is never closed"),
    ("a = 1)", 6, "this ')' was never opened"),
    ("a = 1}", 6, "this '}' was never opened"),
    ("(a = 1}", 7, "expected ')' here, found '}'"),
    ("{a = 1, b = 2)", 14, "expected '}' here, found ')'"),
    ("()", 2, "expected a condition"),
    ("{}", 2, "expected a condition"),
    ("a = 1;", 6, "write ','"),
    ("a = 1 & b = 2", 7, "write 'and' or '&&'"),
    ("a = 1 | b = 2", 7, "write 'or' or '||'"),
    ("a = 1 and # b", 11, "'#' means nothing here"),
    ("a = 1 and \x07", 11, "\\x07"),
    ("a = \0", 5, "NUL"),
    ("kind = floor (a = 1)", 8, "bind the answer of floor to a variable"),
    ("kind = floor b = 1", 14, "expected and, or, ',' or the end, found 'b'"),
    ("(a = 1) not b = 2", 9, "expected and, or, ',' or the end, found 'not'"),
]

COMPARISONS: list[Case] = [
    ("a", 2, "expected a comparison after a"),
    ("locIn", 6, "locIn(…) for an operator"),
    ("not a", 6, "expected a comparison after a"),
    ("a, b", 2, "expected a comparison after a"),
    ("a =", 4, "expected a value, found the end"),
    ("a = and", 5, "found 'and'"),
    ("a = = 3", 5, "found '='"),
    ("a b = 3", 3, "expected a comparison, found 'b'"),
    ("a = 1 < 2", 7, "comparisons are not chained"),
    ("1 < a < 3", 7, "comparisons are not chained"),
    ("1 = 1", 1, "this compares two constants"),
    ("'a' < 'b'", 1, "this compares two constants"),
    ("1 in {1, 2}", 1, "expected an attribute or a variable before 'in'"),
    ("'x' starts with 'y'", 1, "expected an attribute or a variable"),
    ("a < true", 5, "a boolean has no order"),
    ("false >= a", 1, "a boolean has no order"),
    ("a between true and false", 11, "a boolean has no order"),
    ("a = null", 5, "null is an absent value"),
    ("a in {1, null}", 10, "null is an absent value"),
    ("a is 3", 3, "expected a comparison, found 'is'"),
    ("a like 'x'", 3, "expected a comparison, found 'like'"),
    ("p(1) = 3", 6, "bind its answer to a variable"),
    ("3 = p(1)", 5, "bind the answer of p to a variable"),
    ("camera = uav-1", 10, '"uav-1"'),
    ("camera = uav-1", 10, "$uav"),
    ("camera != uav-1", 11, "write"),
    ("a = 'x' + 1", 5, "arithmetic takes numbers"),
    ("a + true > 1", 1, "arithmetic takes numbers"),
    ("(a + 1 > 2", 1, "'('"),
    ("a > (1 + 2", 5, "this '(' has no ')'"),
    ("a > 1 +", 8, "expected a value"),
    ("a > * 2", 5, "expected a value"),
]

SETS: list[Case] = [
    ("a in {}", 6, "a set has at least one member"),
    ("a has any {}", 11, "a set has at least one member"),
    ("a in {1, }", 10, "expected a constant in the set"),
    ("a in {1 2}", 9, "expected ',' or '}'"),
    ("a in {1, 2", 11, "expected ',' or '}'"),
    ("a in {b c}", 9, "expected ',' or '}'"),
    ("a in {?x}", 7, "found the variable ?x"),
    ("a in {$b}", 7, "an attribute stands only in a comparison"),
    ("a in {uav-1}", 10, "expected ',' or '}'"),
    ("a in 3", 6, "expected a set {…} or an interval [a, b]"),
    ("a in ('x', 'y')", 6, "for a set write {x, y}"),
    ("a in ['x', 'y z']", 6, 'for a set write {x, "y z"}'),
    ("a in [1, 2, 3]", 6, "for a set write {1, 2, 3}"),
    ("a in (1)", 6, "for a set write {1}"),
    ("a in [1]", 6, "for a set write {1}"),
    ("a in [true, false]", 6, "for a set write {true, false}"),
    ("a in [1, x]", 6, "for a set write {1, x}"),
    ("a in [1, $b]", 10, "bounds are constants"),
    ("a in [1, 2}", 11, "closing bracket"),
    ("a in {1m, 2s}", 11, "a length and a time"),
    ("a in [1m, 2s]", 11, "a length and a time"),
    ("a between 1km and 1h", 19, "a length and a time"),
    ("a has any {1m, 10m/s}", 16, "a length and a speed"),
    ("a between 1", 12, "expected 'and'"),
    ("a between 1 or 2", 13, "expected 'and'"),
    ("a between 1 and 'x'", 17, "both bounds are numbers or both are strings"),
    ("a between b and c", 11, "bounds are constants"),
    ("a not 3", 7, "after not"),
    ("a starts 'x'", 10, "expected 'with' after starts"),
    ("a starts with x", 15, '"x"'),
    ("a contains 3", 12, "takes a string"),
    ("a matches '['", 11, "regular expression"),
    ("a matches '(?=x)'", 11, "regular expression"),
    ("a has {1}", 7, "has any {…}"),
    ("a has any 1", 11, "'{'"),
    ("a has", 6, "expected a constant after has"),
    ("p(?x), ?x has 1", 8, "a variable is one value"),
    ("exists a", 8, "expected '(' after exists"),
    ("exists(3)", 8, "exists takes the name of an attribute"),
    ("exists(a", 9, "expected ')'"),
]

TOKENS: list[Case] = [
    ("a = 'x", 5, "this string has no closing quote"),
    ("a = \"x'", 5, "this string has no closing quote"),
    ("`a = 3", 1, "closing backtick"),
    ("`` = 3", 1, "letter between"),
    ("a = 01", 5, "does not begin with 0"),
    ("a = .5", 5, "write 0 before the point"),
    ("a = 5.", 6, "digits after its point"),
    ("a = 1e400", 5, "too large for a double"),
    ("a = -1e309", 6, "too large for a double"),
    ("a = 1e308km", 5, "too large for a double"),
    ("a = 1e400m", 5, "too large for a double"),
    ("a = 5 km", 7, "write 5km"),
    ("a = 5parsec", 6, "unknown unit 'parsec'"),
    ("a = 5kmh", 6, "did you mean"),
    ("a = 5KM", 6, "did you mean km?"),
    ("a = 5m1", 6, "unknown unit 'm1'"),
    ("a = 1__0", 6, "unknown unit"),
    ("a = 1_", 6, "unknown unit"),
    ("a > ?", 5, "name of a variable after '?'"),
    ("a > $", 5, "name of an attribute after '$'"),
    ("a > $1", 5, "name of an attribute after '$'"),
    ("a ~ 3", 3, "'~' means nothing here"),
]

OPERATORS: list[Case] = [
    ("p(", 3, "found the end"),
    ("p(1", 4, "expected ',' or ')'"),
    ("p(1,", 5, "expected a constant"),
    ("p(1 2)", 5, "expected ',' or ')'"),
    ("p(,)", 3, "expected a constant"),
    ("p($x)", 3, "it reads attributes from the event"),
    ("p(q(1))", 3, "an operator is not an argument of another"),
    ("p(?x + 1)", 6, "expected ',' or ')' after an argument"),
    ("p(1 + 1)", 5, "arithmetic"),
    ("p(null)", 3, "null"),
    ("p(and)", 3, "keyword"),
    ("p(5 km)", 5, "write 5km"),
    ("not p(?x)", 5, "an operator with the variable ?x cannot be negated"),
    ("not (a = 1 and p(?x))", 16, "an operator with the variable ?x cannot be negated"),
]

GROUPS = [*CONNECTIVES, *COMPARISONS, *SETS, *TOKENS, *OPERATORS]


@pytest.mark.parametrize(
    ("text", "column", "says"), [pytest.param(*case, id=repr(case[0])[:40]) for case in GROUPS]
)
def test_an_error_names_the_place_and_what_was_expected(text: str, column: int, says: str) -> None:
    error = refusal(text)
    assert says in error.problem
    assert (error.line, error.column) == (1, column)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a = 1\n  and b", 2, 8),
        ("a = 1 and\n\n  (b = 2\n  or c = 'x)", 4, 10),
        ("a = 1\nand b in {}\nand c = 2", 2, 10),
        ("a = 1 and\tb c", 1, 13),
        ("größe = 1 and b c", 1, 17),
        ("a = '😀' and b c", 1, 15),
    ],
)
def test_lines_and_columns_count_from_one(text: str, line: int, column: int) -> None:
    error = refusal(text)
    assert (error.line, error.column) == (line, column)


def test_the_line_is_shown_with_a_caret_below_the_place() -> None:
    assert str(refusal("a = 1\n  and b in {} and c = 2")) == (
        "line 2, column 12: a set has at least one member\n"
        "      and b in {} and c = 2\n"
        "               ^"
    )


def test_a_tab_stays_a_tab_so_that_the_caret_fits() -> None:
    *_, line, caret = str(refusal("a = 1 and\tb c")).split("\n")
    assert line.index("c") == caret.index("^")
    assert caret.count("\t") == 1


def test_a_long_line_is_cut_around_the_place() -> None:
    text = " and ".join(f"a{number} = {number}" for number in range(200)) + " and b c"
    *_, line, caret = str(refusal(text)).split("\n")
    assert len(line) < 120
    assert line[caret.index("^")] == "c"


def test_the_error_names_the_subscription() -> None:
    error = refusal("a = ").of("s7")
    assert error.subscription == "s7"
    assert str(error).startswith("subscription 's7': line 1, column ")


def test_it_is_a_value_error() -> None:
    assert isinstance(refusal("a"), ValueError)
    assert issubclass(SubscriptionError, ValueError)


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        (
            "a = 1, b = 2 or c = 3",
            ("(a = 1, b = 2) or c = 3", "a = 1, (b = 2 or c = 3)"),
        ),
        (
            "a = 1 or b = 2, c = 3",
            ("a = 1 or (b = 2, c = 3)", "(a = 1 or b = 2), c = 3"),
        ),
        (
            "x = 0 and (a = 1, b = 2 ∨ c = 3)",
            ("(a = 1, b = 2) or c = 3", "a = 1, (b = 2 or c = 3)"),
        ),
        (
            "{a = 1, b = 2 || c = 3}",
            ("(a = 1, b = 2) or c = 3", "a = 1, (b = 2 or c = 3)"),
        ),
    ],
)
def test_a_comma_beside_an_or_shows_both_readings(text: str, readings: tuple[str, str]) -> None:
    problem = refusal(text).problem
    assert all(reading in problem for reading in readings)
