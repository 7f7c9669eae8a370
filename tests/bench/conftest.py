"""How often laws are tried here: as `HYPOTHESIS_PROFILE` says."""

from tamis.testing import hypothesis_profile

hypothesis_profile()
