"""Every limit of the language: at the limit a text is taken, one beyond it an error says so."""

from __future__ import annotations

import contextlib
import time

import pytest

import tamis
from tamis import Limits, SubscriptionError

from .reading import parse, read, refusal


def test_a_text_of_64_kib_is_taken_and_one_byte_more_is_not() -> None:
    text = "a = 'é" + "x" * (64 * 1024 - 8) + "'"
    assert len(text.encode()) == 64 * 1024
    assert len(read(text)) == 1
    assert "65,536 bytes" in refusal(f"{text} ").problem


def test_bytes_count_not_letters() -> None:
    limits = Limits(text_bytes=10)
    assert read("a = 'éé'", limits)
    assert "at most 10 bytes" in refusal("a = 'ééé'", limits).problem


@pytest.mark.parametrize("form", ["a in {%s}", "a has all {%s}", "p(?x), ?x not in {%s}"])
def test_a_set_has_at_most_10_000_members(form: str) -> None:
    numbers = [str(number) for number in range(10_000)]
    assert len(parse(form % ",".join(numbers)).alternatives) == 1
    error = refusal(form % ",".join([*numbers, "1"]))
    assert "at most 10,000 members" in error.problem
    assert error.column == form.index("{") + 1


def test_commas_inside_strings_are_no_members() -> None:
    limits = Limits(set_members=2)
    assert read("a in {'x,y,z', 'v,w'} and b in {1, 2}", limits)
    assert "at most 2 members" in refusal("a in {1, 2, 3}", limits).problem


@pytest.mark.parametrize(
    ("opening", "closing"), [("(", ")"), ("{", "}"), ("not ", ""), ("!", ""), ("not(", ")")]
)
def test_conditions_nest_at_most_200_deep(opening: str, closing: str) -> None:
    per = 2 if opening == "not(" else 1
    deepest = 200 // per
    assert read(opening * deepest + "a = 1" + closing * deepest) == [["a = 1"]]
    error = refusal(opening * (deepest + 1) + "a = 1" + closing * (deepest + 1))
    assert "at most 200 deep" in error.problem


def test_depth_is_that_of_the_place_not_of_the_text() -> None:
    once = "(" * 150 + "a = 1" + ")" * 150
    assert len(read(f"{once} or not not {once} or b = 1")) == 2


def test_arithmetic_nests_at_most_200_deep() -> None:
    assert read("?x > " + "(" * 200 + "$a" + ")" * 200) == [["?x > $a"]]
    assert "at most 200 deep" in refusal("?x > " + "(" * 201 + "$a" + ")" * 201).problem


def test_parentheses_of_conditions_and_of_arithmetic_add_up() -> None:
    text = "(" * 150 + "$a > " + "(" * 100 + "$b" + ")" * 250
    assert "at most 200 deep" in refusal(text).problem


def test_a_constraint_has_at_most_1_000_terms() -> None:
    assert read("$s > " + " + ".join(["$a"] * 999))
    assert "at most 1,000 terms" in refusal("$s > " + " + ".join(["$a"] * 1_001)).problem


def test_terms_of_both_sides_count() -> None:
    side = " + ".join(["$a"] * 600)
    assert "at most 1,000 terms" in refusal(f"{side} > {side}").problem


def test_a_thousand_signs_overflow_nothing() -> None:
    assert read("a = " + "-" * 1_000 + "5") == [["a = 5"]]
    assert "at most 1,000 terms" in refusal("a = " + "-" * 1_002 + "5").problem


def test_an_integer_has_at_most_1_000_digits() -> None:
    assert read(f"a = {'9' * 1_000}") == [[f"a = {'9' * 1_000}"]]
    assert "at most 1,000 digits" in refusal(f"a = {'9' * 1_001}").problem


def test_at_most_1_024_alternatives() -> None:
    half = " and ".join(f"(p({number}) or b{number} = 1)" for number in range(10))
    assert len(read(half)) == 1024
    assert "1,025 alternatives" in refusal(f"{half} or c = 1").problem
    assert len(read(" or ".join(f"a = {number}" for number in range(1024)))) == 1024


def test_a_condition_on_attributes_counts_as_the_smaller_of_its_two_forms() -> None:
    clauses = [f"(a{number} = 1 or b{number} = 1)" for number in range(1_025)]
    [fifty] = read(" and ".join(clauses[:50]))
    assert fifty == clauses[:50]
    assert len(read(" and ".join(clauses[:1_024]))[0]) == 1_024
    assert "at most 1,024" in refusal(" and ".join(clauses)).problem
    many = [f"(a{number} = 1 and b{number} = 1)" for number in range(1_024)]
    assert len(read(" or ".join(many))) == 1_024
    assert read("a = 1 or b = 1") == [["a = 1"], ["b = 1"]]
    assert read("c = 1 and (a = 1 or b = 1)") == [["c = 1", "a = 1"], ["c = 1", "b = 1"]]
    four = " and ".join(clauses[:4])
    assert len(read(four)) == 16
    assert read(f"{four} and (c = 1 or d = 1)") == [[*clauses[:4], "(c = 1 or d = 1)"]]
    [[either]] = read(" or ".join(f"a = {number}" for number in range(1_025)))
    assert either.startswith("(a = 0 or a = 1 or ")
    assert len(read("(a = 1 or b = 1) and (c = 1 or d = 1) and p(1)")) == 4
    assert len(read("(a = 1 or b > c) and (c = 1 or d = 1)")) == 4


def test_too_many_alternatives_are_counted_not_expanded() -> None:
    text = " and ".join(f"(p({number}) or b{number} = 1)" for number in range(2_000))
    assert "at most 1,024" in refusal(text).problem


def test_negation_is_counted_as_it_is_pushed_down() -> None:
    many = " or ".join(f"(p({number}) and b{number} = 1)" for number in range(11))
    assert len(read(many)) == 11
    assert "2,048 alternatives" in refusal(f"not ({many})").problem


def test_a_negated_interval_counts_as_two() -> None:
    limits = Limits(alternatives=1)
    assert "2 alternatives" in refusal("p(1) and not a in [1, 2]", limits).problem
    assert read("not a in [1, 2]", limits) == [["(a < 1 or a > 2)"]]


def test_a_long_conjunction_is_taken() -> None:
    text = " and ".join(f"a{number} = 1" for number in range(4_000))
    assert len(read(text)[0]) == 4_000


@pytest.mark.parametrize("name", ["text_bytes", "set_members", "depth", "terms", "alternatives"])
def test_limits_are_settings(name: str) -> None:
    text = "not (a in {1, 2} and ((($x + 1 + 2 > $y or b = 1) and (c = 1 or d = 1)) or e = 1))"
    assert read(text)
    assert refusal(text, Limits(**{name: 1}))


NINES = "9" * 1000


@pytest.mark.parametrize(
    "where",
    [
        f"a > 0.{'9' * 4301}km",
        f"a > 1e{'9' * 4301}km",
        f"p(?x), ?x > {'*'.join([NINES] * 5)}",
        f"a > {'*'.join([NINES] * 5)} and yes()",
        '("' + '\\"' * 32_000,
        "(`" + "\\`" * 32_000,
        'a in {"' + '\\"' * 25_000 + "," * 10_001,
        'a=1, b=1 or (((x"' + '\\"' * 30_000,
        f"p(?{'a' * 8000}), ?{'a' * 8000}b > 3",
        'a matches "' + "\\pL" * 12_000 + '"',
        " and ".join(f"(a{at}=1 or b{at}=1)" for at in range(10))
        + " and "
        + " and ".join(f"c{at}=1" for at in range(2000))
        + " and nosuch()",
        f"yes() and {'-' * 300}a > 3",
    ],
)
def test_hard_texts_are_taken_or_refused_at_once(where: str) -> None:
    @tamis.operator(outputs=("n",))
    def p(event: object, n: object) -> list[int]:
        return [1]

    @tamis.operator
    def yes(event: object) -> bool:
        return True

    matcher = tamis.Matcher([p, yes])
    begun = time.thread_time()
    with contextlib.suppress(SubscriptionError):
        matcher.subscribe(where, id="s")
        matcher.match({"a": 1}).explain("s")
        assert matcher.graph()
    # hundreds of times what it takes, so that only a change of order fails
    assert time.thread_time() - begun < 10
