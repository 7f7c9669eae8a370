"""Decides one event: its problem, the planner's run, verdicts, and what is learned from them.

Others may import from `deciding`, `decision`, `following`, `joining`, `learned`, `problem`,
`seen_form` and `stages`.
"""
