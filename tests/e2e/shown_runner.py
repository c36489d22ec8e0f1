"""Runners that reply with the digests of the pictures that they are shown: ``shown_simple`` and ``shown_chat``."""

import base64
import hashlib
import io

import torch
from lmms_eval.api.model import lmms
from lmms_eval.models.registry_v2 import ModelManifest
from PIL import Image


def register():
    return [
        ModelManifest("shown_simple", f"{__name__}.ShownSimple"),
        ModelManifest("shown_chat", chat_class_path=f"{__name__}.ShownChat"),
    ]


def digest(picture):
    """What stands for a picture in a reply, whatever form it has."""
    if isinstance(picture, str):
        data = base64.b64decode(picture.partition(",")[2]) if picture.startswith("data:") else None
        picture = Image.open(io.BytesIO(data) if data else picture)
    return hashlib.sha256(picture.convert("RGB").tobytes()).hexdigest()[:8]


class _Shown(lmms):
    device = torch.device("cpu")

    def __init__(self, batch_size=1, **kwargs):
        super().__init__()
        self.prompts = []
        self.seen = {}

    def __repr__(self):
        return type(self).__name__  # part of the key of the harness's response cache

    def generate_until_multi_round(self, requests):
        raise NotImplementedError

    def loglikelihood(self, requests):
        """A loss that the pictures decide; what was shown is kept in ``seen`` by task, document and choice."""
        found = []
        for prompt, choice, hook, number, task, split in (request.args for request in requests):
            assert prompt
            self.seen[task, number, choice.strip()] = shown = " ".join(
                map(digest, hook(self.task_dict[task][split][number]))
            )
            found.append((float(int(hashlib.sha256((shown + choice).encode()).hexdigest()[:6], 16)), False))
        return found


class ShownSimple(_Shown):
    """Takes the hook of a batch, which is a whole call, from its first request, as many runners do."""

    def generate_until(self, requests):
        hook, task, split = requests[0].args[2], requests[0].args[4], requests[0].args[5]
        self.prompts += [request.args[0] for request in requests]
        documents = self.task_dict[task][split]
        return [" ".join(map(digest, hook(documents[request.args[3]]))) for request in requests]


class ShownChat(_Shown):
    is_simple = False

    def generate_until(self, requests):
        make, task, split = requests[0].args[1], requests[0].args[4], requests[0].args[5]
        self.prompts += [request.args[0] for request in requests]
        replies = []
        for request in requests:
            messages = make(self.task_dict[task][split][request.args[3]])
            parts = [part for each in messages if isinstance(each["content"], list) for part in each["content"]]
            replies.append(" ".join(digest(part["url"]) for part in parts if part["type"] == "image"))
        return replies
