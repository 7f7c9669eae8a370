"""What `tamis new-operator` makes: an installable package with one operator that works."""

from tamis.scaffold.domains import DOMAINS, Domain
from tamis.scaffold.making import Made, ScaffoldError, make, planned

__all__ = ["DOMAINS", "Domain", "Made", "ScaffoldError", "make", "planned"]
