"""The laws that every installed planner and index obeys, and proof that broken ones are caught."""
