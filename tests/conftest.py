"""Sets the signals and the environment that tests need, and how often laws are tried."""

from __future__ import annotations

import os
import signal

from tamis.plugins.loader import installed
from tamis.testing import hypothesis_profile

_OURS = ("TAMIS_", "COLUMNS", "FORCE_COLOR", "NO_COLOR", "PYTHONWARNINGS")

# a job in the background ignores interrupts, and so would the processes that tests interrupt
for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(_number) is signal.SIG_IGN:
        default = signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL
        signal.signal(_number, default)
for _name in [name for name in os.environ if name.startswith(_OURS)]:
    del os.environ[_name]
os.environ["TAMIS_MODELS"] = (
    os.devnull
)  # what a machine has fetched changes no answer but where asked
installed()  # once a process, before a test sets what plugins read
hypothesis_profile()
