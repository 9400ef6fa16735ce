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
for module in pkgutil.walk_packages(sosie.kernels.__path__, "sosie.kernels."):
    loaded = importlib.import_module(module.name)
    kernels |= {value for value in vars(loaded).values() if isinstance(value, Dispatcher)}
kernels |= {kernel.callee for kernel in kernels}
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


THREADS = """
import importlib, pkgutil, sys, threading
from numba import config
import sosie.kernels

sys.setswitchinterval(1e-6)
names = [m.name for m in pkgutil.walk_packages(sosie.kernels.__path__, "sosie.kernels.") if not m.ispkg]
half = [threading.Thread(target=lambda part=names[i::2]: [importlib.import_module(n) for n in part]) for i in (0, 1)]
before = config.CACHE_DIR
for thread in half: thread.start()
for thread in half: thread.join()
assert config.CACHE_DIR == before, config.CACHE_DIR
"""


def test_kernels_imported_by_two_threads_leave_numba_as_it_was():
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
