"""Records as the multiple-choice hook writes them, from a short spelling of the trials."""

from __future__ import annotations

import pytest

STATUSES = {"?": "unreadable", "~": "cut", "_": "empty", "!": "failed"}


@pytest.fixture(scope="session")
def question():
    """``question("AAB?", "A")``: a letter a trial, ? unreadable, ~ cut, _ empty, ! failed; others by name."""

    def build(trials, answer="A", *, id="q", option_count=4, **others):
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
