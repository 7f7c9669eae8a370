"""What follows from facts and an ontology."""
