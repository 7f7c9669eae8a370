"""Shows the result of matching one event: matches, the account, explanations, pictures.

Others may import what stands here, and from `account`, `drawing`, `explain`, `graphs`,
`lines`, `pending`, `plan` and `totals`.
"""

from tamis.result.result import Match, Matches, Rejection, Result, ResultParts, Undetermined

__all__ = ["Match", "Matches", "Rejection", "Result", "ResultParts", "Undetermined"]
