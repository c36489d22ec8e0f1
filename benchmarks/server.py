"""Questions a second through a server: ``medtasks_server`` against the harness's ``openai`` and ``async_openai``.

    python benchmarks/server.py [--questions 60] [--size 512] [--url http://127.0.0.1:8000/v1 --model NAME]

First the server is tests/stub_server.py in a process of its own, which answers at once: what the client can do at most.
Then it is the one at ``--url``, if one is given. A vLLM server with VLLM_SERVER_DEV_MODE=1 has its caches emptied
before each runner. Pictures are made up, smooth with noise, and not degraded. Each runner answers the same questions
with 3 and with 10 trials; what is shown is of its call alone, the processor time that of this process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import keeping
import numpy as np
from PIL import Image

STUB = Path(__file__).resolve().parents[1] / "tests" / "stub_server.py"
TASK = "a_task"
SETTINGS = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "do_sample": True, "max_new_tokens": 8, "until": []}


def picture(number: int, size: int) -> Image.Image:
    """A smooth picture with a little noise, in grey as most medical ones are."""
    down, across = np.mgrid[:size, :size]
    smooth = 128 + 80 * np.sin(across / 40 + number) * np.cos(down / 31)
    noisy = smooth + np.random.default_rng(number).normal(0, 6, (size, size))
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).convert("RGB")


def requests(count: int, trials: int) -> list[Any]:
    """As the harness builds them: a request of each question, T times."""
    from lmms_eval.api.instance import Instance

    def messages(shown: Image.Image) -> list[dict[str, Any]]:
        content = [{"type": "image", "url": shown}, {"type": "text", "text": "Which of A, B, C and D is it?"}]
        return [{"role": "user", "content": content}]

    made = []
    for number in range(count):
        named = {"task": TASK, "doc_id": number, "repeats": trials}
        arguments = ("Which?", messages, dict(SETTINGS), number, TASK, "test")
        made.append(Instance("generate_until", arguments, 0, metadata=named))
    return [request for request in made for _ in range(trials)]


def models(url: str, name: str, key: str) -> dict[str, Any]:
    """A new model of each runner, by what is printed for it."""
    from lmms_eval.models import get_model

    own, async_key, plain = "medtasks_server", "async_openai", "openai"
    given = f"base_url={url},api_key={key}"
    made: dict[str, Any] = {
        plain: lambda: get_model(plain).create_from_arg_string(f"{given},model={name}"),
        async_key: lambda: get_model(async_key).create_from_arg_string(f"{given},model={name},num_cpus=32"),
        f"{own}, T requests": lambda: get_model(own).create_from_arg_string(f"{given},model={name},many=False"),
        f"{own}, n = T": lambda: get_model(own).create_from_arg_string(f"{given},model={name}"),
    }
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--size", type=int, default=512, help="side of the pictures in pixels")
    parser.add_argument("--url", help="the address of a real server")
    parser.add_argument("--model", default="tiny")
    given = parser.parse_args()
    from loguru import logger

    logger.remove()
    print(f"{given.questions} questions, a picture of {given.size} x {given.size} each, one process")
    documents = [picture(number, given.size) for number in range(given.questions)]
    stub = subprocess.Popen([sys.executable, str(STUB)], stdout=subprocess.PIPE, text=True)
    try:
        url = stub.stdout.readline().strip() if stub.stdout else ""
        compare("a stub that answers at once", models(url, "tiny", "none"), documents, url)
    finally:
        stub.terminate()
        stub.wait()
    if given.url:
        key = os.environ.get("OPENAI_API_KEY") or "none"
        compare(server_name(given.url), models(given.url, given.model, key), documents, given.url)


def server_name(url: str) -> str:
    """What a server says it is, as far as vLLM tells it."""
    told = httpx.get(f"{url.removesuffix('/v1')}/version", timeout=10)
    return f"vLLM {told.json()['version']}" if told.status_code == 200 else "a server"


def compare(server: str, made: dict[str, Any], documents: list[Image.Image], url: str) -> None:
    """Print a table of the runners' speeds."""
    print(f"\n{server}")
    print(f"{'runner':28} {'T':>3} {'questions/s':>12} {'trials/s':>9} {'CPU ms/question':>16} {'identical':>10}")
    for trials in (3, 10):
        found: dict[str, list[str]] = {}
        for name, make in made.items():
            empty_caches(url)
            found[name] = measured(name, make(), documents, len(documents), trials)
        one, two = (found[name] for name in found if name.startswith("medtasks_server"))
        print(f"T = {trials}: n = T and T requests gave the same reply on {share(one, two, trials)} questions")


def measured(name: str, lm: Any, documents: list[Image.Image], questions: int, trials: int) -> list[str]:
    """The replies of a model, whose speed is printed."""
    lm.task_dict = {TASK: {"test": documents}}
    asked = requests(questions, trials)
    wall, own = time.perf_counter(), time.process_time()
    replies = [getattr(each, "text", each) for each in lm.generate_until(asked)]
    wall, own = time.perf_counter() - wall, time.process_time() - own
    each = [replies[at : at + trials] for at in range(0, len(replies), trials)]
    same = sum(len(set(found)) == 1 for found in each) / questions
    print(
        f"{name:28} {trials:>3} {questions / wall:>12.1f} {questions * trials / wall:>9.0f} "
        f"{own / questions * 1e3:>16.1f} {same:>10.2f}",
        flush=True,
    )
    return replies


def empty_caches(url: str) -> None:
    """Let a vLLM server forget what the runner before has asked; others don't know these addresses."""
    for each in ("reset_prefix_cache", "reset_mm_cache", "reset_encoder_cache"):
        httpx.post(f"{url.removesuffix('/v1')}/{each}", timeout=60)


def share(one: list[str], two: list[str], trials: int) -> str:
    """On how many questions all trials' replies are equal, as "40 of 40"."""
    starts = range(0, len(one), trials)
    return f"{sum(one[at : at + trials] == two[at : at + trials] for at in starts)} of {len(starts)}"


if __name__ == "__main__":
    keeping.run(main)
