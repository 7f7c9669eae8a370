"""The kit holds: good operators pass, each law is broken by an operator that breaks no other."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from pathlib import Path
from unittest import SkipTest

import pytest

import tamis
from tamis.operators import record_of
from tamis.testing import OperatorConformance, check_operator
from tamis.testing.conformance import LAWS, Breach, LawSubject, travel_together

from .breakers import BROKEN, GOOD, louder

CASES = [(law, operator, words) for law, all in BROKEN.items() for operator, words in all]


def name_of(operator: object) -> str:
    return record_of(operator).specification.name


def broken_by(operator: object) -> dict[str, str]:
    """The laws that an operator breaks, and what is said."""
    hangs = name_of(operator) == "hanging"
    subject = LawSubject(operator, patience_seconds=5 if hangs else 60)
    found = {}
    for law in LAWS:
        try:
            law.hold(subject)
        except AssertionError as breach:
            found[law.name] = str(breach)
        except SkipTest:
            pass
    return found


@pytest.mark.parametrize("operator", GOOD, ids=name_of)
def test_good_operators_break_no_law(operator: object) -> None:
    assert broken_by(operator) == {}


@pytest.mark.parametrize(
    ("law", "operator", "words"), CASES, ids=[f"{law}-{name_of(op)}" for law, op, _ in CASES]
)
def test_each_law_finds_who_breaks_it(law: str, operator: object, words: str) -> None:
    found = broken_by(operator)
    assert list(found) == [law], found
    text = found[law]
    assert text.startswith(f"{name_of(operator)} breaks the law {law!r}: ")
    assert words in " ".join(text.split()) or words in text
    assert "  mend it    " in text
    assert "Traceback" not in text


def test_every_law_is_tried() -> None:
    assert {law.name for law in LAWS} == set(BROKEN)
    assert all(law.says and law.says[0].islower() for law in LAWS)


EAGER = """\
import colorsys
import tamis

@tamis.operator(inputs=(), modules=("colorsys", "wave"), samples=[tamis.Sample("eager()", {})])
def eager(event):
    return bool(colorsys)

def make():
    return eager
"""
LAZY = """\
import importlib.util

assert importlib.util.find_spec("colorsys") is not None  # looked for, not imported

def make():
    import eager_operators
    return eager_operators.eager
"""


def test_listing_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "eager_operators.py").write_text(EAGER)
    (tmp_path / "lazy_operators.py").write_text(LAZY)
    monkeypatch.syspath_prepend(tmp_path)
    eager, lazy = map(importlib.import_module, ("eager_operators", "lazy_operators"))
    known = eager.eager.specification
    assert broken_by(tamis.OperatorRecord(known, lazy.make)) == {}
    found = broken_by(tamis.OperatorRecord(known, eager.make))
    assert list(found) == ["listing"]
    text = "".join(found["listing"].split())
    assert "colorsysisimportedby" in text
    assert "eager_operators.py:1" in text


def test_a_breach_says_all_there_is_to_know() -> None:
    with pytest.raises(Breach) as caught:
        check_operator(louder, [tamis.Sample("louder(3)", {"loudness": 2, "x": "y" * 500}, True)])
    assert str(caught.value).splitlines()[:3] == [
        "louder breaks the law 'answers': it answers its samples, as they say",
        "a sample has another answer",
        "  predicate  louder(3)",
    ]
    assert len(str(caught.value)) < 700
    breach = caught.value
    assert (breach.operator, breach.law, breach.predicate) == ("louder", "answers", "louder(3)")
    assert str(breach.expected) == "True"
    assert str(breach.got) == "False"


def test_a_call_that_hangs_ends_its_law() -> None:
    @tamis.operator(inputs=("a",), samples=[tamis.Sample("endless()", {"a": 1}, True)])
    def endless(event: object) -> bool:
        return not released.wait(30)

    released = threading.Event()
    with pytest.raises(Breach, match="a call does not end") as caught:
        check_operator(endless, patience_seconds=0.05)
    released.set()
    assert caught.value.law == "solutions"
    assert "declare timeout=" in str(caught.value)


def test_only_the_laws_that_are_named() -> None:
    wrong = [tamis.Sample("louder(3)", {"loudness": 2}, True)]
    check_operator(louder, wrong, laws=["made", "samples"])
    with pytest.raises(tamis.TamisError, match="no law 'anwsers'; did you mean answers"):
        check_operator(louder, laws=["anwsers"])
    with pytest.raises(tamis.TamisError, match="no installed operator 'nowhere'"):
        check_operator("nowhere")


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        (tamis.Sample("louder(x)", LOUD := {"loudness": 7}), "is a number"),
        (tamis.Sample("louder(3) or louder(4)", LOUD), "one operator predicate"),
        (tamis.Sample("not louder(3)", LOUD), "one operator predicate"),
        (tamis.Sample("quieter(3)", LOUD), "it asks quieter"),
        (tamis.Sample("louder(", LOUD), "line 1"),
        (tamis.Sample("louder(3)", [1]), "an event is an object"),  # type: ignore[arg-type]
        (tamis.Sample("louder(3)", LOUD, "yes"), "the list of solutions"),
        ("louder(3)", "is not a sample"),
    ],
)
def test_bad_samples_are_named(sample: tamis.Sample, words: str) -> None:
    with pytest.raises(AssertionError) as caught:
        check_operator(louder, [sample])
    assert "breaks the law 'samples'" in str(caught.value)
    assert words in str(caught.value)


def test_what_is_not_installed_is_skipped_with_a_sentence() -> None:
    @tamis.operator(modules=("no_such_module",), extra="tamis[spatial]")
    def far(event: object) -> bool:
        return True

    with pytest.raises(SkipTest, match=r"far needs no_such_module.*pip install 'tamis\[spatial\]'"):
        check_operator(far)


def test_one_that_ends_the_interpreter_harms_no_other() -> None:
    @tamis.operator(inputs=("here",), samples=[tamis.Sample("ending()", {"here": 1})])
    def ending(event: dict[str, int]) -> bool:
        import os

        if os.environ.get("ENDS") != "not here":
            os._exit(3)
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENDS", "not here")
        subjects = [LawSubject(louder), LawSubject(ending)]
        assert all(subject.cases for subject in subjects)
        patch.delenv("ENDS")
        travel_together(subjects)
    assert not isinstance(subjects[0].trip, str)
    assert subjects[1].trip == "it ended the interpreter"


class TestLouder(OperatorConformance):
    operator = louder
    samples = (tamis.Sample("louder(3)", {"loudness": 7}, True),)


def test_a_class_has_a_test_for_each_law() -> None:
    tests = [name for name in dir(TestLouder) if name.startswith("test_")]
    assert sorted(tests) == sorted(f"test_{law.name}" for law in LAWS)
    assert TestLouder.test_answers.__doc__ == (  # type: ignore[attr-defined]
        "Holds it to: it answers its samples, as they say."
    )
    with pytest.raises(tamis.TamisError, match="Nameless names no operator"):
        type("Nameless", (OperatorConformance,), {})().test_made()


def test_importing_the_kit_imports_neither_pytest_nor_hypothesis() -> None:
    program = (
        "import sys, tamis.testing\n"
        "print([name for name in ('pytest', 'hypothesis', 'unittest') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert run.stdout.strip() == b"[]"
