"""Says which models are known by name, where each comes from, and fetches them.

Others may import what stands here, and from `fetching` and `record`.
"""

from tamis.models.record import ModelFile, ModelRecord

__all__ = ["ModelFile", "ModelRecord"]
