"""How one event is decided: calls, tests, joins, and the state between them."""
