"""A real cluster on this machine: a master and two workers of one core, each a process of its own, and their end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark
from tests.spark.session import LEAN, SRC

WORKERS = 2
_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
_PATIENCE = 120  # seconds


@dataclass(frozen=True)
class Standalone:
    """A cluster that runs: its URL, and the folder of its logs and of what its workers write."""

    url: str
    folder: Path

    def executors(self) -> set[int]:
        """Return the numbers of the processes that are executors of this cluster."""
        found = set()
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                said = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
                if b"CoarseGrainedExecutorBackend" in said and str(self.folder).encode() in said:
                    found.add(int(entry.name))
        return found


@contextmanager
def standalone(folder: Path, java: str) -> Iterator[Standalone]:
    """Yield a cluster; all of its processes, executors included, have ended when the block has."""
    folder.mkdir(exist_ok=True)
    port = _free_port()
    url, started = f"spark://127.0.0.1:{port}", list[subprocess.Popen[bytes]]()
    try:
        started.append(_start(folder, java, "master.Master", "--host", "127.0.0.1", "--port", str(port)))
        _wait(folder / "0.log", b"New state: ALIVE", started[0])
        for number in range(1, WORKERS + 1):
            place = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1024m"]
            started.append(
                _start(folder, java, "worker.Worker", *place, "-d", str(folder / "work"), url, number=number)
            )
        for number in range(1, WORKERS + 1):
            _wait(folder / f"{number}.log", b"Successfully registered", started[number])
        yield Standalone(url, folder)
    finally:
        for process in reversed(started):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # executors are in the group of their worker
            process.wait()


def _start(
    folder: Path, java: str, name: str, *arguments: str, master: str | None = None, number: int = 0
) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "JAVA_HOME": java,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(SRC),
        "SPARK_DAEMON_JAVA_OPTS": f"{LEAN} -Dspark.master.rest.enabled=false",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    command = [str(_CLASS), f"org.apache.spark.deploy.{name}", *arguments, "--webui-port", "0"]
    command += [] if master is None else [master]
    with open(folder / f"{number}.log", "wb") as log:
        return subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )


def _wait(log: Path, said: bytes, process: subprocess.Popen[bytes]) -> None:
    """Wait until a log says something."""
    until = time.monotonic() + _PATIENCE
    while said not in (text := log.read_bytes()):
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"{log.name}: {text.decode(errors='replace')[-2000:]}")
        time.sleep(0.05)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
