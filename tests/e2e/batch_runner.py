"""A runner of the form that most of the harness's simple ones have: a batch's first request decides for all of it.

Like ``lmms_eval/models/simple/qwen2_5_vl.py`` and 42 more files, it sorts requests by prompt and takes the task, the
split and ``doc_to_visual`` of each batch from the first request in it. Its reply is the digest of the picture that it
was shown. The fixture ``batch_runner`` makes it known to the harness as ``--model batch_runner``.
"""

import hashlib
import json
import os
from pathlib import Path

import torch
from lmms_eval import utils
from lmms_eval.api.model import lmms
from lmms_eval.models.registry_v2 import ModelManifest


def register():
    return [ModelManifest("batch_runner", f"{__name__}.BatchRunner")]


def digest(picture):
    """What stands for a picture in a reply."""
    return hashlib.sha256(picture.tobytes()).hexdigest()[:16]


class BatchRunner(lmms):
    """Arguments: ``calls``, a folder for a log of what each process was asked; ``sharded=True``: processes meet in
    every batch, as the parts of a sharded model do; ``more`` replies than requests (``-1``: one too few) are returned
    by the process ``by``."""

    def __init__(self, batch_size=1, calls="", sharded=False, more=0, by=0, **kwargs):
        super().__init__()
        self.batch_size, self.calls, self.sharded = int(batch_size), calls, sharded
        # The harness reads "-1" as text.
        self.more = int(more) if int(os.environ.get("RANK", "0")) == by else 0

    device = torch.device("cpu")

    def generate_until(self, requests):
        order = utils.Collator(
            [request.args for request in requests], lambda args: (-len(args[0]), args[0]), grouping=True
        )
        replies, batches = [], 0
        for batch in order.get_batched(n=self.batch_size):
            _, _, doc_to_visual, doc_ids, tasks, splits = zip(*batch, strict=True)
            documents = self.task_dict[tasks[0]][splits[0]]
            replies += [" ".join(map(digest, doc_to_visual[0](documents[number]))) for number in doc_ids]
            batches += 1
            if self.sharded:
                torch.distributed.all_reduce(torch.ones(1))
        if self.calls:
            asked = {"tasks": sorted({request.task_name for request in requests}), "requests": len(requests)}
            with (Path(self.calls) / f"{self.rank}.jsonl").open("a", encoding="utf-8") as log:
                log.write(json.dumps({**asked, "batches": batches}) + "\n")
        found = order.get_original(replies)
        return found[: len(found) + self.more] + ["one more"] * self.more

    def loglikelihood(self, requests):
        raise NotImplementedError

    def generate_until_multi_round(self, requests):
        raise NotImplementedError
