"""What `spark-submit` runs, and `python -m tamis.spark.learn`: `tamis learn`.

Who imports this module finds it in the place of the function of its name: it can be called, too.
"""

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """This module, as the function that it hides."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from tamis.spark.learning import learn

        return learn(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable

if __name__ == "__main__":
    from tamis.cli import main

    sys.exit(main(["learn", *sys.argv[1:]]))
