"""Lists which triples follow from which: the rules of RDFS and of OWL 2 RL, as data.

A rule is its name as in the OWL 2 profiles, tables 4 to 9 (or RDF Semantics), its body, and what
follows: a triple, or a contradiction and how it is told. Equality (eq-ref, eq-rep) and what reads
lists are in `closing` and `lists`; cls-uni, cls-int2, cax-eqc and prp-eqp follow from others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tamis_operators.reasoner import vocabulary

Part = str | int
"""A variable of a rule, or a term."""
Pattern = tuple[Part, Part, Part]


@dataclass(frozen=True)
class Rule:
    """A rule: its body, then a triple or a contradiction."""

    name: str
    body: tuple[Pattern, ...]
    head: Pattern | None
    contradiction: str = ""
    unequal: tuple[str, str] | None = None


_NAMES = {name: value for name, value in vars(vocabulary).items() if isinstance(value, int)}
_UNEQUAL = re.compile(r"\s*\?(\w+) != \?(\w+)\s*$")


def _part(word: str) -> Part:
    return word[1:] if word.startswith("?") else _NAMES[word]


def _pattern(text: str) -> Pattern:
    subject, predicate, object = text.split()
    return _part(subject), _part(predicate), _part(object)


def _rule(line: str) -> Rule:
    name, _, text = line.partition(":")
    body, _, head = text.partition("=>")
    patterns = body.split(" . ")
    unequal = None
    if "!=" in patterns[-1]:
        found = _UNEQUAL.match(patterns.pop())
        unequal = found and (found[1], found[2])
    parts = tuple(_pattern(pattern) for pattern in patterns)
    if head.strip().startswith('"'):
        return Rule(name, parts, None, head.strip().strip('"'), unequal)
    return Rule(name, parts, _pattern(head), "", unequal)


def _rules(text: str) -> tuple[Rule, ...]:
    """Returns one rule a line; a line that begins with `=>` or `.` goes on with the one before."""
    joined = re.sub(r"\n\s*(?==>|\. )", " ", text)
    return tuple(_rule(line.strip()) for line in joined.splitlines() if line.strip())


RDFS = _rules("""
    rdfs2: ?p DOMAIN ?c . ?x ?p ?y => ?x TYPE ?c
    rdfs3: ?p RANGE ?c . ?x ?p ?y => ?y TYPE ?c
    rdfs5: ?p SUBPROPERTY ?q . ?q SUBPROPERTY ?r => ?p SUBPROPERTY ?r
    rdfs6: ?p TYPE PROPERTY => ?p SUBPROPERTY ?p
    rdfs7: ?p SUBPROPERTY ?q . ?x ?p ?y => ?x ?q ?y
    rdfs8: ?c TYPE RDFS_CLASS => ?c SUBCLASS RESOURCE
    rdfs9: ?c SUBCLASS ?d . ?x TYPE ?c => ?x TYPE ?d
    rdfs10: ?c TYPE RDFS_CLASS => ?c SUBCLASS ?c
    rdfs11: ?c SUBCLASS ?d . ?d SUBCLASS ?e => ?c SUBCLASS ?e
    rdfs12: ?p TYPE MEMBERSHIP => ?p SUBPROPERTY MEMBER
    rdfs13: ?c TYPE DATATYPE => ?c SUBCLASS LITERAL
""")

OWL_RL = _rules("""
    eq-same: ?x SAME_AS ?y . ?x != ?y => ?x SAME ?y
    eq-sym: ?x SAME ?y => ?y SAME_AS ?x
    eq-trans: ?x SAME ?y . ?y SAME ?z => ?x SAME_AS ?z
    eq-diff1: ?x DIFFERENT_FROM ?y . ?x SAME ?y => "{x} and {y} are the same and different"
    eq-diff1': ?x DIFFERENT_FROM ?x => "{x} is different from itself"
    eq-diff2: ?x DIFFERENT ?y . ?x SAME ?y => "{x} and {y} are the same and different"

    prp-dom: ?p DOMAIN ?c . ?x ?p ?y => ?x TYPE ?c
    prp-rng: ?p RANGE ?c . ?x ?p ?y => ?y TYPE ?c
    prp-fp: ?p TYPE FUNCTIONAL . ?x ?p ?y . ?x ?p ?z . ?y != ?z => ?y SAME_AS ?z
    prp-ifp: ?p TYPE INVERSE_FUNCTIONAL . ?x ?p ?y . ?z ?p ?y . ?x != ?z => ?x SAME_AS ?z
    prp-irp: ?p TYPE IRREFLEXIVE . ?x ?p ?x => "{p} is irreflexive, and relates {x} with itself"
    prp-symp: ?p TYPE SYMMETRIC . ?x ?p ?y => ?y ?p ?x
    prp-asyp: ?p TYPE ASYMMETRIC . ?x ?p ?y . ?y ?p ?x
        => "{p} is asymmetric, and relates {x} and {y} both ways"
    prp-trp: ?p TYPE TRANSITIVE . ?x ?p ?y . ?y ?p ?z => ?x ?p ?z
    prp-spo1: ?p SUBPROPERTY ?q . ?x ?p ?y => ?x ?q ?y
    prp-pdw: ?p PROPERTY_DISJOINT_WITH ?q . ?x ?p ?y . ?x ?q ?y
        => "{p} and {q} are disjoint, and both relate {x} with {y}"
    prp-adp: ?p PROPERTIES_DISJOINT ?q . ?x ?p ?y . ?x ?q ?y
        => "{p} and {q} are disjoint, and both relate {x} with {y}"
    prp-inv1: ?p INVERSE_OF ?q . ?x ?p ?y => ?y ?q ?x
    prp-inv2: ?p INVERSE_OF ?q . ?x ?q ?y => ?y ?p ?x
    prp-npa1: ?n ASSERTION_PROPERTY ?p . ?n SOURCE_INDIVIDUAL ?x . ?n TARGET_INDIVIDUAL ?y
        . ?x ?p ?y
        => "{p} does not relate {x} with {y}, it is said, and does"
    prp-npa2: ?n ASSERTION_PROPERTY ?p . ?n SOURCE_INDIVIDUAL ?x . ?n TARGET_VALUE ?y . ?x ?p ?y
        => "{p} does not relate {x} with {y}, it is said, and does"

    cls-nothing2: ?x TYPE NOTHING => "{x} is in owl:Nothing"
    cls-com: ?c COMPLEMENT_OF ?d . ?x TYPE ?c . ?x TYPE ?d
        => "{x} is a {c} and a {d}, which are complements"
    cls-svf1: ?r SOME_VALUES_FROM ?c . ?r ON_PROPERTY ?p . ?x ?p ?y . ?y TYPE ?c => ?x TYPE ?r
    cls-svf2: ?r SOME_VALUES_FROM THING . ?r ON_PROPERTY ?p . ?x ?p ?y => ?x TYPE ?r
    cls-avf: ?r ALL_VALUES_FROM ?c . ?r ON_PROPERTY ?p . ?x TYPE ?r . ?x ?p ?y => ?y TYPE ?c
    cls-hv1: ?r HAS_VALUE ?y . ?r ON_PROPERTY ?p . ?x TYPE ?r => ?x ?p ?y
    cls-hv2: ?r HAS_VALUE ?y . ?r ON_PROPERTY ?p . ?x ?p ?y => ?x TYPE ?r
    cls-maxc1: ?r AT_MOST_NONE ?r . ?r ON_PROPERTY ?p . ?x TYPE ?r . ?x ?p ?y
        => "{x} may have no {p}, and has {y}"
    cls-maxc2: ?r AT_MOST_ONE ?r . ?r ON_PROPERTY ?p . ?x TYPE ?r . ?x ?p ?y . ?x ?p ?z . ?y != ?z
        => ?y SAME_AS ?z
    cls-maxqc1: ?r AT_MOST_NONE_OF ?r . ?r ON_PROPERTY ?p . ?r ON_CLASS ?c . ?x TYPE ?r
        . ?x ?p ?y . ?y TYPE ?c
        => "{x} may have no {c} as {p}, and has {y}"
    cls-maxqc2: ?r AT_MOST_NONE_OF ?r . ?r ON_PROPERTY ?p . ?r ON_CLASS THING . ?x TYPE ?r
        . ?x ?p ?y
        => "{x} may have no {p}, and has {y}"
    cls-maxqc3: ?r AT_MOST_ONE_OF ?r . ?r ON_PROPERTY ?p . ?r ON_CLASS ?c . ?x TYPE ?r
        . ?x ?p ?y . ?y TYPE ?c . ?x ?p ?z . ?z TYPE ?c . ?y != ?z
        => ?y SAME_AS ?z
    cls-maxqc4: ?r AT_MOST_ONE_OF ?r . ?r ON_PROPERTY ?p . ?r ON_CLASS THING . ?x TYPE ?r
        . ?x ?p ?y . ?x ?p ?z . ?y != ?z
        => ?y SAME_AS ?z

    cax-sco: ?c SUBCLASS ?d . ?x TYPE ?c => ?x TYPE ?d
    cax-dw: ?c DISJOINT_WITH ?d . ?x TYPE ?c . ?x TYPE ?d
        => "{x} is a {c} and a {d}, which are disjoint"
    cax-adc: ?c DISJOINT ?d . ?x TYPE ?c . ?x TYPE ?d
        => "{x} is a {c} and a {d}, which are disjoint"

    scm-cls1: ?c TYPE OWL_CLASS => ?c SUBCLASS ?c
    scm-cls2: ?c TYPE OWL_CLASS => ?c EQUIVALENT_CLASS ?c
    scm-cls3: ?c TYPE OWL_CLASS => ?c SUBCLASS THING
    scm-cls4: ?c TYPE OWL_CLASS => NOTHING SUBCLASS ?c
    scm-sco: ?c SUBCLASS ?d . ?d SUBCLASS ?e . ?c != ?e => ?c SUBCLASS ?e
    scm-eqc1: ?c EQUIVALENT_CLASS ?d . ?c != ?d => ?c SUBCLASS ?d
    scm-eqc1': ?c EQUIVALENT_CLASS ?d . ?c != ?d => ?d SUBCLASS ?c
    scm-eqc2: ?c SUBCLASS ?d . ?d SUBCLASS ?c => ?c EQUIVALENT_CLASS ?d
    scm-op1: ?p TYPE OBJECT_PROPERTY => ?p SUBPROPERTY ?p
    scm-op2: ?p TYPE OBJECT_PROPERTY => ?p EQUIVALENT_PROPERTY ?p
    scm-dp1: ?p TYPE DATATYPE_PROPERTY => ?p SUBPROPERTY ?p
    scm-dp2: ?p TYPE DATATYPE_PROPERTY => ?p EQUIVALENT_PROPERTY ?p
    scm-p1: ?p TYPE PROPERTY => ?p SUBPROPERTY ?p
    scm-p2: ?p TYPE PROPERTY => ?p EQUIVALENT_PROPERTY ?p
    scm-spo: ?p SUBPROPERTY ?q . ?q SUBPROPERTY ?r . ?p != ?r => ?p SUBPROPERTY ?r
    scm-eqp1: ?p EQUIVALENT_PROPERTY ?q . ?p != ?q => ?p SUBPROPERTY ?q
    scm-eqp1': ?p EQUIVALENT_PROPERTY ?q . ?p != ?q => ?q SUBPROPERTY ?p
    scm-eqp2: ?p SUBPROPERTY ?q . ?q SUBPROPERTY ?p . ?p != ?q => ?p EQUIVALENT_PROPERTY ?q
    scm-dom1: ?p DOMAIN ?c . ?c SUBCLASS ?d => ?p DOMAIN ?d
    scm-dom2: ?q DOMAIN ?c . ?p SUBPROPERTY ?q => ?p DOMAIN ?c
    scm-rng1: ?p RANGE ?c . ?c SUBCLASS ?d => ?p RANGE ?d
    scm-rng2: ?q RANGE ?c . ?p SUBPROPERTY ?q => ?p RANGE ?c
    scm-hv: ?c HAS_VALUE ?v . ?c ON_PROPERTY ?p . ?d HAS_VALUE ?v . ?d ON_PROPERTY ?q
        . ?p SUBPROPERTY ?q
        => ?c SUBCLASS ?d
    scm-svf1: ?c SOME_VALUES_FROM ?x . ?c ON_PROPERTY ?p . ?d ON_PROPERTY ?p
        . ?d SOME_VALUES_FROM ?y . ?x SUBCLASS ?y
        => ?c SUBCLASS ?d
    scm-svf2: ?c SOME_VALUES_FROM ?x . ?c ON_PROPERTY ?p . ?d SOME_VALUES_FROM ?x
        . ?d ON_PROPERTY ?q . ?p SUBPROPERTY ?q
        => ?c SUBCLASS ?d
    scm-avf1: ?c ALL_VALUES_FROM ?x . ?c ON_PROPERTY ?p . ?d ON_PROPERTY ?p
        . ?d ALL_VALUES_FROM ?y . ?x SUBCLASS ?y
        => ?c SUBCLASS ?d
    scm-avf2: ?c ALL_VALUES_FROM ?x . ?c ON_PROPERTY ?p . ?d ALL_VALUES_FROM ?x
        . ?d ON_PROPERTY ?q . ?p SUBPROPERTY ?q
        => ?d SUBCLASS ?c
""")
