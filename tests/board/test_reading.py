"""A sample log as columns: what is counted of replies."""

from __future__ import annotations

import json

from lmms_medtasks.board.reading import read_log
from lmms_medtasks.samples.record import KEY, Judgement, MeasureValue, Record


def test_judged_replies_are_counted_by_whether_they_say_anything(tmp_path):
    """An empty reply to a judged question is not one that could be read."""
    rows = []
    for number, trial in enumerate(("ok", "empty", "truncated", "failed")):
        judgement = Judgement({"name": "none", "protocol": "open_answer"}, (None,), ((),))
        record = Record(str(number), "image", (trial,), None, {"accuracy": MeasureValue()}, judgement=judgement)
        rows.append(json.dumps({KEY: record.to_json()}))
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(rows))
    extra = read_log(path, "cluster").extra
    sums = {name: sum(value for value in column.labels() if value) for name, column in extra.items()}
    assert sums == {
        "failed_requests.failed": 1, "failed_requests.trials": 4, "replies.parsed": 1, "replies.replies": 3,
    }  # fmt: skip
