"""Makes an installable package with one operator that works, for `tamis new-operator`.

Others may import what stands here.
"""

from tamis.scaffold.domains import DOMAINS, Domain
from tamis.scaffold.making import PackagePlan, ScaffoldError, make, planned

__all__ = ["DOMAINS", "Domain", "PackagePlan", "ScaffoldError", "make", "planned"]
