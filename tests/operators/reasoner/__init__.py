"""Tests of the operators over facts and ontologies."""
