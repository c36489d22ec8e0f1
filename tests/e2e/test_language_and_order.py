"""The tasks that take the image away or rotate the options, through the real command line on the mini data."""

from lmms_medtasks.report import ReportOptions, build_report

MEDQ = "medq_deg_l0,medq_deg_l2,medq_deg_noimage,medq_deg_circular"
BONES = (
    "bones_joints_t1_knowledge_circular,bones_joints_t2_note_circular,bones_joints_t3_image_circular,"
    "bones_joints_t4_diagnosis,bones_joints_t4_diagnosis_noimage,bones_joints_t5_diagnostic_reasoning_noimage,bones_joints_t6_treatment_noimage,"
    "bones_joints_t7_treatment_reasoning_noimage,bones_joints_t8_inconsistency_noimage"
)
OBVIOUS = "medobvious_detection_mcq,medobvious_detection_mcq_circular,medobvious_referring_mcq_circular"


def keys(done):
    parts = build_report([done.folder], ReportOptions(resamples=50, drawn=False)).parts
    return {table.key for part in parts for section in part.sections for table in section.tables}


def test_medq_deg(harness):
    done = harness("--model", "medtasks_observer", "--tasks", MEDQ, "--limit", "60")
    found = done.run.tasks
    # It answers from pixels: without them it guesses among 3 to 5 options, and the order is nothing to it.
    assert found["medq_deg_l0"]["accuracy,trials"] > 0.7
    assert found["medq_deg_noimage"]["accuracy,trials"] < 0.5
    assert found["medq_deg_circular"]["circular_accuracy,trials"] > 0.7
    assert found["medq_deg_circular"]["position_bias,trials"] < 0.1
    rows = [row["questions"] for row in done.samples("medq_deg_circular")]
    assert {len(each["trials"]) for each in rows} == {1} and rows[1]["id"] == f"{rows[1]['pair']}/r1"
    assert {len(row["questions"]["trials"]) for row in done.samples("medq_deg_noimage")} == {3}
    assert {"benefit_lost", "circular"} <= keys(done)


def test_bones_and_joints(harness):
    done = harness("--model", "medtasks_observer", "--tasks", BONES, MEDTASKS_JUDGE="lexical")
    found = {name.removeprefix("bones_joints_"): values for name, values in done.run.tasks.items()}
    assert found["t3_image_circular"]["circular_accuracy,trials"] > 0.8
    # Tasks I and II ask for knowledge that it has not: one of five places, and never all five.
    assert found["t1_knowledge_circular"]["circular_accuracy,trials"] < 0.2
    assert found["t3_image_circular"]["questions,trials"] == 5 * 25
    for name in ("t4_diagnosis", "t5_diagnostic_reasoning", "t6_treatment", "t7_treatment_reasoning"):
        blind = found[f"{name}_noimage"]
        assert blind["accuracy,trials"] < 0.3 and blind["coverage,trials"] == 1, name
    assert found["t8_inconsistency_noimage"]["accuracy,trials"] == 0
    assert {"circular", "without_images"} <= keys(done)


def test_medobvious(harness):
    done = harness("--model", "medtasks_pixel_outlier", "--tasks", OBVIOUS)
    found = done.run.tasks
    plain, turned = (found[f"medobvious_{name}"] for name in ("detection_mcq", "detection_mcq_circular"))
    # It looks for a place and then for the place's letter: rotating the options changes nothing.
    assert turned["circular_accuracy,trials"] == plain["accuracy,trials"] > 0.5
    assert turned["incomplete_questions,trials"] == 0 and turned["parse_rate,trials"] == 1
    rows = [row["questions"] for row in done.samples("medobvious_referring_mcq_circular")]
    assert {trial for row in rows for trial in row["trials"]} <= set("ABCDEFGHIJ")
    by_question = {}
    for row in rows:
        by_question.setdefault(row["pair"], set()).add(row["expected"])
    assert all(len(letters) in (5, 10) for letters in by_question.values())
    assert {"circular", "ways"} <= keys(done)
