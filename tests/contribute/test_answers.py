"""What the check of answers leaves behind."""

from loguru import logger

from lmms_medtasks.contribute.validate import validate
from lmms_medtasks.statistics import coverage


def said_by_coverage():
    said = []
    sink = logger.add(said.append, level="WARNING")
    coverage.complete([{"status": "missing", "judged": 0, "wanted": 1, "low": 0.0, "high": 1.0}])
    logger.remove(sink)
    return said


def test_the_harness_log_is_as_before_also_where_a_document_lacks_what_its_judge_wants(make):
    folder = make("lesion_words", "open", "lesion_words")
    path = folder / "lesion_words.yaml"
    text = path.read_text("utf-8")
    assert "judge: open_answer" in text
    path.write_text(text.replace("judge: open_answer", "judge: med_cmr_open"), "utf-8")
    errors = [str(each) for each in validate(path, write=True).errors]
    assert any("wants what this document has not" in each for each in errors), errors
    assert said_by_coverage()
