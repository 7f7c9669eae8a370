"""Makes an installable package with one operator that works, for `tamis new-operator`.

Others may import what stands here.
"""

from tamis.scaffold.domains import DOMAINS, Domain
from tamis.scaffold.making import Made, ScaffoldError, make, planned

__all__ = ["DOMAINS", "Domain", "Made", "ScaffoldError", "make", "planned"]
