"""What the check of answers says in the harness's log, and what it leaves behind."""

import pytest
from loguru import logger

from lmms_medtasks.contribute.validate import validate_folder


@pytest.fixture
def said():
    """What the harness's log was told, a text each."""
    lines = []
    sink = logger.add(lambda message: lines.append(str(message)), level="WARNING")
    yield lines
    logger.remove(sink)


def test_that_judgements_are_missing_is_tried_in_silence(make, said):
    assert validate_folder(make("lesion_words", "open", "lesion_words") / "lesion_words.yaml", write=True).errors == []
    assert said == []


def test_a_document_that_lacks_what_its_judge_wants_is_said(make, said):
    folder = make("lesion_words", "open", "lesion_words")
    path = folder / "lesion_words.yaml"
    text = path.read_text("utf-8")
    assert "judge: open_answer" in text
    path.write_text(text.replace("judge: open_answer", "judge: med_cmr_open"), "utf-8")
    errors = [str(each) for each in validate_folder(path, write=True).errors]
    assert any("wants what this document has not" in each for each in errors), errors
    assert said == []
