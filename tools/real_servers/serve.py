"""Serve a model from the environment that install.py has made, on loopback, until it is interrupted.

    python tools/real_servers/serve.py vllm [FOLDER] [--checkpoint top_k_1] [--port 8000] [-- --max-model-len 2048]
    python tools/real_servers/serve.py llamacpp [FOLDER]

It prints the server's address when the server answers. The model is served as ``tiny`` (vLLM, one of the checkpoints;
pictures) or ``smollm2`` (llama.cpp, SmolLM2-135M-Instruct; text). What stands after ``--`` is handed on to ``vllm
serve``. ``started`` does the same for tests and benchmarks.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tools.real_servers import install

MODELS = {"vllm": "tiny", "llamacpp": "smollm2"}
SLOTS = 4
"""Replies that llama.cpp draws at once, and the largest ``n`` that it takes."""

# Chunked prefill: vLLM 0.32 on a CPU ends at a request with a seed whose prompt it prefills in chunks.
_VLLM = (
    "--max-model-len", "4096", "--enforce-eager", "--dtype", "float32", "--max-num-seqs", "64",
    "--no-enable-chunked-prefill", "--limit-mm-per-prompt", '{"image": 4}',
)  # fmt: skip
# With VLLM_SERVER_DEV_MODE its caches can be emptied between measurements; one GiB is enough for the tiny model's.
_VARIABLES = {
    "VLLM_SERVER_DEV_MODE": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1",
}  # fmt: skip


class NotStarted(Exception):
    """The server ended, or did not answer in time; says what it printed last."""


def command(kind: str, folder: Path, port: int, checkpoint: str, more: Sequence[str] = ()) -> list[str]:
    """What starts a server. ``kind``: "vllm" or "llamacpp". ``checkpoint``: a name of install.CHECKPOINTS or a path."""
    python = install.python_of(folder)
    if kind == "llamacpp":
        return [str(python), str(Path(__file__).with_name("llamacpp.py")), str(port), MODELS[kind], str(SLOTS)]
    served = folder / "checkpoints" / checkpoint  # a path that starts at the root stays itself
    address = ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", MODELS[kind]]
    return [str(python.with_name("vllm")), "serve", str(served), *address, *_VLLM, *more]


@contextlib.contextmanager
def started(
    kind: str,
    folder: Path,
    *,
    checkpoint: str = "neutral",
    port: int = 0,
    more: Sequence[str] = (),
    timeout: float = 300.0,
) -> Iterator[str]:
    """The address of a server, which answers, and is ended with its processes at the end.

    ``folder``: what install.py made. ``port``: 0 for a free one. ``timeout``: seconds until it answers. Raises
    NotStarted.
    """
    port = port or _free_port()
    environment = {**os.environ, **_VARIABLES}
    with tempfile.TemporaryFile() as log:
        # A session of its own: vLLM's engine is another process, and both get the signal.
        process = subprocess.Popen(
            command(kind, folder, port, checkpoint, more),
            stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True,
        )  # fmt: skip
        try:
            _wait(process, f"http://127.0.0.1:{port}", log, time.monotonic() + timeout)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a server and its processes."""
    for name in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, name)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(20)


def _wait(process: subprocess.Popen[bytes], address: str, log: IO[bytes], until: float) -> None:
    while time.monotonic() < until:
        if process.poll() is not None:
            raise NotStarted(f"The server ended with status {process.returncode}:\n{_tail(log)}")
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise NotStarted(f"The server does not answer:\n{_tail(log)}")


def _tail(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read().decode("utf-8", "replace")[-4000:]


def _free_port() -> int:
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        return int(own.getsockname()[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=sorted(MODELS))
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
    parser.add_argument("--checkpoint", default="neutral", help=f"{', '.join(install.CHECKPOINTS)}, or a path")
    parser.add_argument("--port", type=int, default=0, help="0 for a free one")
    own = sys.argv[1:]
    at = own.index("--") if "--" in own else len(own)
    given, more = parser.parse_args(own[:at]), own[at + 1 :]
    folder = given.folder or Path(os.environ.get(install.VARIABLE) or install.default_folder())
    folder = folder.expanduser().absolute()
    if not install.is_installed(folder):
        sys.exit(f"{folder} has no environment of these versions. python tools/real_servers/install.py makes it.")
    try:
        with started(given.kind, folder, checkpoint=given.checkpoint, port=given.port, more=more) as url:
            print(f"{url} model={MODELS[given.kind]}", flush=True)
            signal.pause()
    except NotStarted as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main()
