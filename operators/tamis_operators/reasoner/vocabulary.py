"""Numbers the terms that rules know: RDF, RDFS, OWL and datatypes, the same in every table.

Terms are small integers: those of the vocabulary first, then those of the ontology, then those that
only an event has. The internal predicates below stand for what is no triple of anybody's.
"""

from __future__ import annotations

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
BUILT_IN = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "xsd": XSD}

IRIS: list[str] = []
"""The vocabulary: the number of a term is its place."""


def _number(iri: str) -> int:
    IRIS.append(iri)
    return len(IRIS) - 1


TYPE = _number(RDF + "type")
FIRST = _number(RDF + "first")
REST = _number(RDF + "rest")
NIL = _number(RDF + "nil")
PROPERTY = _number(RDF + "Property")
SUBCLASS = _number(RDFS + "subClassOf")
SUBPROPERTY = _number(RDFS + "subPropertyOf")
DOMAIN = _number(RDFS + "domain")
RANGE = _number(RDFS + "range")
RESOURCE = _number(RDFS + "Resource")
RDFS_CLASS = _number(RDFS + "Class")
LITERAL = _number(RDFS + "Literal")
DATATYPE = _number(RDFS + "Datatype")
MEMBERSHIP = _number(RDFS + "ContainerMembershipProperty")
MEMBER = _number(RDFS + "member")
THING = _number(OWL + "Thing")
NOTHING = _number(OWL + "Nothing")
OWL_CLASS = _number(OWL + "Class")
SAME_AS = _number(OWL + "sameAs")
DIFFERENT_FROM = _number(OWL + "differentFrom")
EQUIVALENT_CLASS = _number(OWL + "equivalentClass")
EQUIVALENT_PROPERTY = _number(OWL + "equivalentProperty")
DISJOINT_WITH = _number(OWL + "disjointWith")
PROPERTY_DISJOINT_WITH = _number(OWL + "propertyDisjointWith")
INVERSE_OF = _number(OWL + "inverseOf")
COMPLEMENT_OF = _number(OWL + "complementOf")
ON_PROPERTY = _number(OWL + "onProperty")
ON_CLASS = _number(OWL + "onClass")
SOME_VALUES_FROM = _number(OWL + "someValuesFrom")
ALL_VALUES_FROM = _number(OWL + "allValuesFrom")
HAS_VALUE = _number(OWL + "hasValue")
MAX_CARDINALITY = _number(OWL + "maxCardinality")
MAX_QUALIFIED_CARDINALITY = _number(OWL + "maxQualifiedCardinality")
INTERSECTION_OF = _number(OWL + "intersectionOf")
UNION_OF = _number(OWL + "unionOf")
ONE_OF = _number(OWL + "oneOf")
PROPERTY_CHAIN = _number(OWL + "propertyChainAxiom")
HAS_KEY = _number(OWL + "hasKey")
MEMBERS = _number(OWL + "members")
DISTINCT_MEMBERS = _number(OWL + "distinctMembers")
ALL_DIFFERENT = _number(OWL + "AllDifferent")
ALL_DISJOINT_CLASSES = _number(OWL + "AllDisjointClasses")
ALL_DISJOINT_PROPERTIES = _number(OWL + "AllDisjointProperties")
SOURCE_INDIVIDUAL = _number(OWL + "sourceIndividual")
ASSERTION_PROPERTY = _number(OWL + "assertionProperty")
TARGET_INDIVIDUAL = _number(OWL + "targetIndividual")
TARGET_VALUE = _number(OWL + "targetValue")
FUNCTIONAL = _number(OWL + "FunctionalProperty")
INVERSE_FUNCTIONAL = _number(OWL + "InverseFunctionalProperty")
IRREFLEXIVE = _number(OWL + "IrreflexiveProperty")
SYMMETRIC = _number(OWL + "SymmetricProperty")
ASYMMETRIC = _number(OWL + "AsymmetricProperty")
TRANSITIVE = _number(OWL + "TransitiveProperty")
OBJECT_PROPERTY = _number(OWL + "ObjectProperty")
DATATYPE_PROPERTY = _number(OWL + "DatatypeProperty")
ANNOTATION_PROPERTY = _number(OWL + "AnnotationProperty")

ANNOTATIONS = tuple(
    _number(iri)
    for iri in (
        RDFS + "label",
        RDFS + "comment",
        RDFS + "seeAlso",
        RDFS + "isDefinedBy",
        OWL + "deprecated",
        OWL + "versionInfo",
        OWL + "priorVersion",
        OWL + "backwardCompatibleWith",
        OWL + "incompatibleWith",
    )
)

SAME = _number("tamis:same")
"""`owl:sameAs` between two different terms."""
DIFFERENT = _number("tamis:different")
DISJOINT = _number("tamis:disjoint")
PROPERTIES_DISJOINT = _number("tamis:propertiesDisjoint")
AT_MOST_NONE = _number("tamis:atMostNone")
AT_MOST_ONE = _number("tamis:atMostOne")
AT_MOST_NONE_OF = _number("tamis:atMostNoneOf")
AT_MOST_ONE_OF = _number("tamis:atMostOneOf")
INTERNAL = frozenset(range(SAME, AT_MOST_ONE_OF + 1))

# datatypes: what each one derives from, as XML Schema has it

_PARENTS = {
    "integer": "decimal",
    "long": "integer",
    "int": "long",
    "short": "int",
    "byte": "short",
    "nonNegativeInteger": "integer",
    "positiveInteger": "nonNegativeInteger",
    "unsignedLong": "nonNegativeInteger",
    "unsignedInt": "unsignedLong",
    "unsignedShort": "unsignedInt",
    "unsignedByte": "unsignedShort",
    "nonPositiveInteger": "integer",
    "negativeInteger": "nonPositiveInteger",
    "normalizedString": "string",
    "token": "normalizedString",
    "language": "token",
    "Name": "token",
    "NCName": "Name",
    "NMTOKEN": "Name",  # as the reference implementation has it
    "dateTimeStamp": "dateTime",
}
_ROOTS = ("decimal", "float", "double", "string", "boolean", "hexBinary", "base64Binary", "anyURI")
_TIMES = ("dateTime", "time", "date")
_OTHERS = ("XMLLiteral", "HTML", "langString", "PlainLiteral")

DATATYPES: dict[str, int] = {
    RDFS + "Literal": LITERAL,
    **{XSD + name: _number(XSD + name) for name in (*_ROOTS, *_TIMES, *_PARENTS)},
    **{RDF + name: _number(RDF + name) for name in _OTHERS},
}
"""The datatypes of OWL 2 RL by IRI."""


def _ancestors(name: str) -> tuple[int, ...]:
    parent = _PARENTS.get(name)
    return () if parent is None else (DATATYPES[XSD + parent], *_ancestors(parent))


SUPERTYPES: dict[int, tuple[int, ...]] = {
    DATATYPES[XSD + name]: _ancestors(name) for name in _PARENTS
}

_APART = [
    *(XSD + name for name in ("anyURI", "base64Binary", "boolean", "dateTime", "decimal")),
    *(XSD + name for name in ("double", "float", "hexBinary", "string")),
    RDF + "PlainLiteral",
    RDF + "XMLLiteral",
]
APART: tuple[tuple[int, int], ...] = tuple(
    (DATATYPES[left], DATATYPES[right])
    for at, left in enumerate(_APART)
    for right in _APART[at + 1 :]
    if left != RDF + "PlainLiteral" and (left, right) != (XSD + "string", RDF + "PlainLiteral")
)
"""Datatypes that have no value in common."""
