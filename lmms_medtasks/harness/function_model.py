"""A Python function as a model of the harness."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tqdm import tqdm

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.own_models import OwnModel
from lmms_medtasks.pictures import rgb8


class FunctionModel(OwnModel):
    """Asks ``function`` for each reply: it is given the prompt and the question's pictures as 8-bit RGB PIL images.

    What goes wrong in the function ends the run, as it is.
    """

    is_simple = True
    doubt = "what settings reach a function is not known"
    """Why trials may be no independent draws, see :func:`lmms_medtasks.harness.runners.doubt`."""

    def __init__(self, function: Callable[[str, list[Any]], str]) -> None:
        super().__init__()
        self.function = function
        name = str(getattr(function, "__name__", type(function).__name__))
        self.name = "function" if name == "<lambda>" else name

    def generate_until(self, requests: list[Any]) -> list[str]:
        replies = []
        for request in tqdm(requests, desc="Answering"):
            prompt, _, doc_to_visual, doc_id, task, split = request.args
            visuals = doc_to_visual(self.task_dict[task][split][doc_id]) or []
            reply = self.function(prompt, [rgb8(each) if hasattr(each, "getbands") else each for each in visuals])
            if not isinstance(reply, str):
                raise UserError(
                    f"{self.name} must give a text, got {type(reply).__name__} for document {doc_id} of {task}."
                )
            replies.append(reply)
        return replies
