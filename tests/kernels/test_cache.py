"""Compiled kernels are kept: another process that does the same compiles nothing."""

import json
import subprocess
import sys

SCRIPT = """
import importlib, json, pkgutil
import pyarrow as pa
import sosie, sosie.kernels
from numba.core.dispatcher import Dispatcher

texts = [f"number {i // 2} of some texts that say next to nothing, each of them twice, caf\\u00e9" for i in range(60)]
for method in ("exact", "minhash", "simhash"):
    sosie.dedup(pa.table({"text": texts}), method=method, threads=1)
signatures = sosie.Simhash(bits=64).fit().sign(texts, threads=1)
sosie.FlatIndex(signatures).search(signatures, 3, threads=1)
sosie.join(signatures, radius=3, threads=1)
kernels = set()
for module in pkgutil.iter_modules(sosie.kernels.__path__):
    loaded = importlib.import_module(f"sosie.kernels.{module.name}")
    kernels |= {value for value in vars(loaded).values() if isinstance(value, Dispatcher)}
missed = sorted(str(kernel.py_func.__qualname__) for kernel in kernels if kernel.stats.cache_misses)
print(json.dumps({"used": sum(bool(kernel.signatures) for kernel in kernels), "missed": missed}))
"""


def run():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing():
    first = run()
    second = run()
    assert first["used"] > 20
    assert second["missed"] == []
