"""Decides one event: its problem, the planner's run, verdicts, and what is learned from them.

Others may import from `coming`, `deciding`, `decision`, `following`, `forecasting`, `joining`,
`learned`, `lessons`, `loading`, `opening`, `paying`, `problem`, `reasons`, `recent`, `rehearsal`,
`seen_form`, `stages`, `state`, `wider` and `window`.
"""
