"""Runs the main() of a script whose clock goes on by a second each time that it is read, from 0.

python counted_clock.py SCRIPT
"""

import itertools
import runpy
import sys
from types import SimpleNamespace

script = runpy.run_path(sys.argv[1])
script["main"].__globals__["time"] = SimpleNamespace(time=itertools.count().__next__)
script["main"]()
