"""Random small ontologies and facts that use every construct of the rules, as N-Triples."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
EX = "http://example.org/x#"

Lines = list[str]
Draw = Callable[[st.SearchStrategy[str]], str]


def iri(namespace: str, name: str) -> str:
    return f"<{namespace}{name}>"


def typed(text: str, datatype: str) -> str:
    return f'"{text}"^^{iri(XSD, datatype)}'


CLASSES = [iri(EX, f"C{number}") for number in range(5)]
PROPERTIES = [iri(EX, f"P{number}") for number in range(4)]
VALUES = [iri(EX, f"D{number}") for number in range(2)]
PEOPLE = [iri(EX, f"I{number}") for number in range(5)]
LITERALS = [
    typed("1", "integer"),
    typed("2", "integer"),
    typed("7", "byte"),
    typed("1.5", "decimal"),
    typed("2.5", "double"),
    typed("a", "string"),
    typed("true", "boolean"),
    '"chat"@fr',
]
DATATYPES = [iri(XSD, name) for name in ("integer", "decimal", "string", "double", "byte")]
THING = iri(OWL, "Thing")

a_class = st.sampled_from(CLASSES)
a_property = st.sampled_from(PROPERTIES)
a_value = st.sampled_from(VALUES)
a_person = st.sampled_from(PEOPLE)
a_literal = st.sampled_from(LITERALS)
a_datatype = st.sampled_from(DATATYPES)


def triple(subject: str, predicate: str, object: str) -> str:
    return f"{subject} {predicate} {object} ."


def rdf(name: str) -> str:
    return iri(RDF, name)


def rdfs(name: str) -> str:
    return iri(RDFS, name)


def owl(name: str) -> str:
    return iri(OWL, name)


def listed(draw: Draw, node: str, members: Lines) -> Lines:
    """A list whose nodes have names, so that closures compare as sets."""
    nodes = [f"<{EX}{node}.{place}>" for place in range(len(members))]
    lines = []
    for place, member in enumerate(members):
        rest = nodes[place + 1] if place + 1 < len(nodes) else rdf("nil")
        lines += [
            triple(nodes[place], rdf("first"), member),
            triple(nodes[place], rdf("rest"), rest),
        ]
    return lines


RDFS_AXIOMS = ("subClassOf", "subPropertyOf", "domain", "range", "Class", "Datatype", "member")
SCHEMA = (
    *("subClassOf", "subPropertyOf", "domain", "range", "equivalentClass", "equivalentProperty"),
    *("inverseOf", "disjointWith", "complementOf", "propertyDisjointWith", "Class"),
)
KINDS = (
    *("FunctionalProperty", "InverseFunctionalProperty", "SymmetricProperty"),
    *("TransitiveProperty", "AsymmetricProperty", "IrreflexiveProperty"),
    *("ObjectProperty", "DatatypeProperty"),
)
RESTRICTIONS = (
    *("someValuesFrom", "someThing", "someData", "allValuesFrom", "hasValue", "hasData"),
    *("maxCardinality", "maxQualifiedCardinality", "maxThing"),
)
LISTS = (
    *("intersectionOf", "unionOf", "oneOf", "propertyChainAxiom", "hasKey"),
    *("AllDifferent", "AllDisjointClasses", "AllDisjointProperties"),
)


@st.composite
def schema(draw: Draw, number: int, kinds: tuple[str, ...] = SCHEMA) -> Lines:
    kind = draw(st.sampled_from(kinds))
    if kind in ("subClassOf", "equivalentClass", "disjointWith", "complementOf"):
        namespace = RDFS if kind == "subClassOf" else OWL
        return [triple(draw(a_class), iri(namespace, kind), draw(a_class))]
    if kind in ("domain", "range"):
        return [triple(draw(a_property | a_value), rdfs(kind), draw(a_class | a_datatype))]
    if kind == "Class":
        return [triple(draw(a_class), rdf("type"), draw(st.sampled_from([owl(kind), rdfs(kind)])))]
    if kind == "Datatype":
        return [triple(draw(a_class), rdf("type"), rdfs(kind))]
    if kind == "member":
        return [triple(draw(a_property), rdf("type"), rdfs("ContainerMembershipProperty"))]
    namespace = RDFS if kind == "subPropertyOf" else OWL
    return [triple(draw(a_property), iri(namespace, kind), draw(a_property))]


@st.composite
def characteristic(draw: Draw, number: int) -> Lines:
    return [triple(draw(a_property | a_value), rdf("type"), owl(draw(st.sampled_from(KINDS))))]


@st.composite
def restriction(draw: Draw, number: int) -> Lines:
    kind = draw(st.sampled_from(RESTRICTIONS))
    node = draw(a_class)
    data = kind.endswith("Data")
    lines = [triple(node, owl("onProperty"), draw(a_value if data else a_property))]
    if kind in ("someValuesFrom", "allValuesFrom"):
        lines.append(triple(node, owl(kind), draw(a_class)))
    elif kind == "someThing":
        lines.append(triple(node, owl("someValuesFrom"), THING))
    elif kind == "someData":
        lines.append(triple(node, owl("someValuesFrom"), draw(a_datatype)))
    elif kind in ("hasValue", "hasData"):
        lines.append(triple(node, owl("hasValue"), draw(a_literal if data else a_person)))
    else:
        most = typed(draw(st.sampled_from(["0", "1", "1", "2"])), "nonNegativeInteger")
        name = "maxCardinality" if kind == "maxCardinality" else "maxQualifiedCardinality"
        lines.append(triple(node, owl(name), most))
        if kind != "maxCardinality":
            lines.append(
                triple(node, owl("onClass"), THING if kind == "maxThing" else draw(a_class))
            )
    return lines


@st.composite
def with_list(draw: Draw, number: int) -> Lines:
    kind = draw(st.sampled_from(LISTS))
    members = {
        "intersectionOf": a_class,
        "unionOf": a_class,
        "oneOf": a_person,
        "AllDifferent": a_person,
        "AllDisjointClasses": a_class,
    }.get(kind, a_property)
    several = st.lists(members, min_size=1, max_size=3, unique=True)
    chosen: Lines = draw(several)  # type: ignore[arg-type,assignment]
    lines = listed(draw, f"list{number}", chosen)
    first = f"<{EX}list{number}.0>"
    if kind in ("intersectionOf", "unionOf", "oneOf", "hasKey"):
        return [*lines, triple(draw(a_class), owl(kind), first)]
    if kind == "propertyChainAxiom":
        return [*lines, triple(draw(a_property), owl(kind), first)]
    node = f"<{EX}all{number}>"
    names = ("members", "distinctMembers") if kind == "AllDifferent" else ("members",)
    head = owl(draw(st.sampled_from(names)))
    return [*lines, triple(node, rdf("type"), owl(kind)), triple(node, head, first)]


@st.composite
def negative(draw: Draw, number: int) -> Lines:
    node = f"<{EX}not{number}>"
    return [
        triple(node, owl("sourceIndividual"), draw(a_person)),
        triple(node, owl("assertionProperty"), draw(a_property)),
        triple(node, owl("targetIndividual"), draw(a_person)),
    ]


@st.composite
def fact(draw: Draw, number: int, equality: bool = True) -> Lines:
    kinds = ["type", "relation", "relation", "relation", "value"]
    kinds += ["sameAs", "differentFrom", "odd"] if equality else []
    kind = draw(st.sampled_from(kinds))
    if kind == "type":
        return [triple(draw(a_person), rdf("type"), draw(a_class))]
    if kind == "relation":
        return [triple(draw(a_person), draw(a_property), draw(a_person))]
    if kind == "value":
        return [triple(draw(a_person), draw(a_value), draw(a_literal))]
    if kind == "odd":
        odd = iri(EX, "Odd")  # never said to be the same as something: there owlrl slips
        return [
            triple(odd, rdf("type"), draw(a_datatype)),
            triple(draw(a_person), draw(a_property), odd),
        ]
    return [triple(draw(a_person), owl(kind), draw(a_person))]


@st.composite
def documents(draw: Draw, regime: str) -> tuple[str, str]:
    """An ontology and the facts of an event, as N-Triples."""
    number = 0

    def lines(parts: list[Callable[..., st.SearchStrategy[Lines]]], most: int) -> Lines:
        nonlocal number
        found: Lines = []
        for _ in range(int(draw(st.integers(0, most)))):  # type: ignore[arg-type]
            number += 1
            part = draw(st.sampled_from(parts))
            found += draw(part(number))  # type: ignore[operator]
        return found

    if regime == "rdfs":
        axioms = [lambda number: schema(number, RDFS_AXIOMS)]
        said = [lambda number: fact(number, equality=False)]
    else:
        axioms = [schema, schema, characteristic, restriction, restriction, with_list, negative]
        said = [fact]
    ontology = lines(axioms, 10) + lines(said, 4)
    facts = lines(said, 6) + lines(axioms, 2)
    return "\n".join(ontology), "\n".join(facts)
