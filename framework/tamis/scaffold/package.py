"""What stands around a new operator: the files of its package, but for the operator itself."""

from __future__ import annotations

PYPROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "$distribution"
version = "0.1.0"
description = "An operator for tamis: $says"
readme = "README.md"
requires-python = ">=3.11"
dependencies = ["$requires"]

[project.optional-dependencies]
test = ["tamis[testing]"]

[project.entry-points.tamis]
$entry = "$package"

[tool.hatch.build.targets.wheel]
packages = ["src/$package"]

[tool.pytest.ini_options]
testpaths = ["tests"]

[tool.mypy]
strict = true
files = ["src", "tests"]

[tool.ruff]
line-length = 100
src = ["src"]

[tool.ruff.lint]
select = ["B", "E", "F", "I", "RUF", "UP", "W"]
"""

INIT = '''\
"""A plugin for tamis: the operator $name."""

from __future__ import annotations

import tamis


@tamis.hookimpl
def tamis_operators() -> list[tamis.Operator]:
    """The operators of this package; they are imported when tamis asks for them."""
    from $package.operators import $name

    return [$name]
'''

TESTS = '''\
"""The laws that every operator is held to, and what this one has to say."""

from __future__ import annotations

$imports
from tamis.testing import OperatorConformance

from $package.operators import $name

EVENTS = [
    $first,
    $second,
]


class $test_class(OperatorConformance):
    """Holds it to the laws, a test each."""

    operator = $name


$edge

def test_tamis_finds_it_where_it_is_installed() -> None:
    matcher = tamis.Matcher()
    matcher.subscribe("$predicate", id="s1")
    found = [bool(matcher.match(event).matches) for event in EVENTS]
    assert found == [True, False]
'''

README = """\
# $distribution

A plugin for tamis with one operator: `$signature` says
$says.

```console
$$ python -m pip install -e '.[test]'
$$ python -m pytest
$$ tamis operators $name
$$ tamis match --subscriptions example/subscriptions.jsonl --events example/events.jsonl
```

| file | holds |
| --- | --- |
| `src/$package/operators.py` | the operator: change `$name`, its inputs and its samples |
| `src/$package/__init__.py` | the hook by which tamis finds it, named in `pyproject.toml` |
| `tests/test_$snake.py` | the laws of operators, a test each, and tests of your own |
| `example/` | a subscription and events to try it on |

`python -m pytest -k answers` tries the samples alone, `tamis doctor` times the operator on them.
"""

SUBSCRIPTIONS = """\
{"id": "s1", "where": "$predicate"}
"""

EVENTS = """\
{"id": "e1", $inner_first
{"id": "e2", $inner_second
"""
