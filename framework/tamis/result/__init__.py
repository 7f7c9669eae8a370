"""Shows what matching one event gave: matches, the account, explanations, pictures."""

from tamis.result.result import Match, Matches, Rejection, Result, Seen, Undetermined

__all__ = ["Match", "Matches", "Rejection", "Result", "Seen", "Undetermined"]
