"""Records as the multiple-choice hook writes them, from a short spelling of the trials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

STATUSES = {"?": "unreadable", "~": "cut", "_": "empty", "!": "failed"}


@pytest.fixture(scope="session")
def question() -> Callable[..., dict[str, Any]]:
    """``question("AAB?", "A")``: a letter a trial, ? unreadable, ~ cut, _ empty, ! failed; others by name."""

    def build(trials: str, answer: str = "A", *, id: str = "q", option_count: int = 4, **others: Any) -> dict[str, Any]:
        replies = trials.replace("!", "")
        record = {
            "id": id,
            "question_id": id,
            "image_id": id,
            "answer": answer,
            "option_count": option_count,
            "trials": [STATUSES.get(trial, trial) for trial in trials],
        }
        if replies:
            record["score"] = replies.count(answer) / len(replies)
        return {**record, **others}

    return build
