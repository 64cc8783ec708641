"""A process that runs units for another one, and can be killed without losing other results.

Messages are pickles after their length. Units come on standard input, results go to standard
output. The process ends when its standard input ends, as it does when its parent is gone.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO

try:
    import cloudpickle
except ImportError:  # older versions of joblib bring it along
    from joblib.externals import cloudpickle

from moreplr.experiments.units import Result, Unit, run_unit

_LENGTH = struct.Struct(">Q")
# One core for a unit, so that CPU times can be compared and jobs don't compete for cores.
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


def send(stream: IO[bytes], message: bytes) -> None:
    """Write a message and its length."""
    stream.write(_LENGTH.pack(len(message)) + message)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """Read a message; raises EOFError if the other process is gone."""
    (length,) = _LENGTH.unpack(_read(stream, _LENGTH.size))
    return _read(stream, length)


def _read(stream: IO[bytes], length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        part = stream.read(length - len(parts))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


class Worker:
    """A process that runs one unit at a time; after a kill, a new one takes its place."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, unit: Unit, timeout: float | None = None) -> list[Result]:
        """The unit's results; a timeout and the end of the process are results, too."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()

        def kill() -> None:
            late.set()
            process.kill()

        alarm = threading.Timer(timeout or 0, kill)
        alarm.daemon = True
        if timeout is not None:
            alarm.start()
        try:
            send(process.stdin, cloudpickle.dumps(unit))
            answer = pickle.loads(receive(process.stdout))
            return unit.failed("error", answer) if isinstance(answer, str) else answer
        except (EOFError, OSError):
            code = process.wait()
            self.close()
            if late.is_set():
                return unit.failed("timeout", f"took more than {timeout:g} s")
            return unit.failed("error", f"the worker process ended with code {code}")
        finally:
            alarm.cancel()

    def close(self) -> None:
        """End the process, at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for stream in (self._process.stdin, self._process.stdout):
                if stream is not None:
                    with suppress(OSError):  # a pipe to a killed process can't be flushed
                        stream.close()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            # It imports from the same places as this process, and not from its working folder.
            paths = [path or os.getcwd() for path in sys.path]
            environment = {**os.environ, **_ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)}
            code = "from moreplr.experiments._worker import main; main()"
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
            )
            assert self._process.stdout is not None
            try:
                receive(self._process.stdout)  # starting does not count as time of the unit
            except EOFError:
                self.close()
                raise RuntimeError("a worker process did not start, see above") from None
        return self._process


def main() -> None:
    """Run units until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this
    results = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # so that methods can print
    units: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    # Unbuffered: the listener would hold a buffer's lock, and block an exit.
    stream = open(sys.stdin.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115
    threading.Thread(target=_listen, args=(stream, units), daemon=True).start()
    send(results, b"ready")
    while True:
        send(results, pickle.dumps(_answer(units.get())))


def _answer(message: bytes) -> list[Result] | str:
    try:
        unit = pickle.loads(message)
    except Exception as error:  # a ranker whose module is not here, for example
        return f"{type(error).__name__}: {error}"
    return run_unit(unit)


def _listen(stream: IO[bytes], units: queue.SimpleQueue[bytes]) -> None:
    """Take units; when the parent is gone, end the process, even in the middle of a fit."""
    try:
        while True:
            units.put(receive(stream))
    except EOFError:
        os._exit(0)
