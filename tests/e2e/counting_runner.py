"""A runner that writes down each request when it is asked, and replies with what decided the reply.

A reply is the digest of the picture that was shown, that of the prompt, the settings, and a number drawn from torch's
generator, which the hook has seeded for the trial. The fixture ``killed_runs`` makes it known as ``--model
counting_runner``.
"""

import hashlib
import json
import os
import time
from pathlib import Path

import torch
from lmms_eval.api.instance import GenerationResult, TokenCounts
from lmms_eval.api.model import lmms
from lmms_eval.models.registry_v2 import ModelManifest

FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] the server is away"


def register():
    return [ModelManifest("counting_runner", f"{__name__}.CountingRunner")]


def _digest(content):
    return hashlib.sha256(content).hexdigest()[:8]


class CountingRunner(lmms):
    """Arguments: ``pretrained``, whatever; ``log``, the folder of what was asked, a file a process; ``pause``, seconds
    a request takes; ``sharded=True``: processes meet in every request; ``outage``, a file: while it is there, every
    other question fails."""

    device = torch.device("cpu")

    def __init__(self, pretrained="", log="", pause=0.0, batch_size=1, sharded=False, outage="", **kwargs):
        super().__init__()
        self.batch_size, self.sharded, self.outage = int(batch_size), sharded, Path(outage or "none")
        self.pause = float(pause)
        self.log = (Path(log) / f"{os.getpid()}.jsonl").open("a", encoding="utf-8", buffering=1)

    def generate_until(self, requests):
        self.log.write(json.dumps({"slice": len(requests)}) + "\n")
        return [self._reply(request) for request in requests]

    def _reply(self, request):
        prompt, settings, doc_to_visual, number, task, split = request.args
        pictures = doc_to_visual(self.task_dict[task][split][number])
        copied = "__padding_only__" in request.metadata
        self.log.write(json.dumps({"task": task, "question": number, "copied": copied}) + "\n")
        time.sleep(self.pause)
        if self.sharded and self._world_size > 1:
            torch.distributed.all_reduce(torch.ones(1))
        if self.outage.is_file() and number % 2:
            return FAILED
        shown = [_digest(each.tobytes()) for each in pictures]
        text = f"{shown} {_digest(prompt.encode())} {sorted(settings.items())} {torch.rand(1).item()}"
        return GenerationResult(text, TokenCounts(output_tokens=number))

    def loglikelihood(self, requests):
        raise NotImplementedError

    def generate_until_multi_round(self, requests):
        raise NotImplementedError
