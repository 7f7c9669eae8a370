"""The operators that ask a reasoner."""
