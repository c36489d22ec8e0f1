"""All benchmarks with options, and contributed tasks by default, read them with one reader."""

import json
from pathlib import Path

import pytest

from lmms_medtasks.parsing.option import read_option
from lmms_medtasks.parsing.reply import ParsedAnswer
from lmms_medtasks.suites.templates import parsers
from lmms_medtasks.task_configs.bones_joints import measures as bones_joints
from lmms_medtasks.task_configs.med_cmr import measures as med_cmr
from lmms_medtasks.task_configs.medq_deg import measures as medq_deg

DATA = json.loads((Path(__file__).parent / "cases" / "option_replies_unseen.json").read_text("utf-8"))
REPLIES = [each for each in DATA["replies"] if each["options"] == "organ"]
DOCUMENT = {
    "id": "1", "image_id": "i", "question": "Which organ?", "options": DATA["questions"]["organ"], "answer": "B",
    "data": "mini", "severity": 0, "modality": "CT", "capability": "Counting", "index": "1", "task": "t3_image",
    "task_type": "choice", "site": "knee", "dimension": "SOD", "shown": True,
}  # fmt: skip
RECORDS = {
    "medq_deg": medq_deg.choice_question_record,
    "med_cmr": med_cmr.choice_record,
    "bones_joints": bones_joints.choice_record,
}


@pytest.mark.parametrize("suite", RECORDS)
def test_a_suite_reads_as_the_one_reader_does(suite):
    readings = [read_option(each["reply"], DOCUMENT["options"]) for each in REPLIES]
    found = RECORDS[suite](DOCUMENT, [each["reply"] for each in REPLIES])
    assert list(found.trials) == [each.value or each.status for each in readings]


def test_a_contributed_task_reads_as_the_one_reader_does():
    for each in REPLIES:
        found = read_option(each["reply"], DOCUMENT["options"])
        assert parsers.get("option").read(DOCUMENT, each["reply"]) == ParsedAnswer(
            found.status, found.value, found.rule
        )


def test_a_contributed_yes_no_task_hands_on_its_question():
    read = parsers.get("yes_no").read
    asked, statement = (
        {"id": "1", "question": "Is there a nodule?"},
        {"id": "2", "question": "True or false: a nodule."},
    )
    for reply in ("No, there is no nodule.", "There is no nodule."):
        assert (read(asked, reply).status, read(asked, reply).value) == ("ok", "no")
    assert read({"id": "1", "question": "Is the lung normal?"}, "There is no nodule.").status == "unreadable"
    assert (read(asked, "True").status, read(statement, "True").value) == ("unreadable", "yes")
