"""Made-up runs of every suite with a report, two models each; one of them says what no page may run."""

import json

import pytest

from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.site.write_site import SiteOptions, build_site
from lmms_medtasks.build_cache import BuildCache
from lmms_medtasks.harness.scoring import metric_values
from lmms_medtasks.record import QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.task_configs.med_cmr import measures as med_cmr
from lmms_medtasks.task_configs.med_cmr.judging import WEIGHTS
from lmms_medtasks.task_configs.medobvious import measures as medobvious_measures
from lmms_medtasks.task_configs.medq_deg import measures
from lmms_medtasks.task_configs.sure_vqa import measures as sure_measures
from tools.browser import Browser

HOSTILE = '<script>alert(1)</script></script>"\' onmouseover="alert(2)" {{7*191}} ]]> \u202eevil =cmd|x!A0'
LETTERS = {"good": "AAAAAB", "bad": "ABBABB"}
DATA = {
    "medq_deg": "medtasks://medq_deg/clean",
    "medq_deg_calib": "medtasks://medq_deg/clean",
    "med_cmr_mcq": "medtasks://med_cmr/mcq",
    "med_cmr_open": "medtasks://med_cmr/open",
    "medobvious": "medtasks://medobvious/test",
    "sure_slake_modality": "medtasks://sure_slake/test",
    "sure_mimic_age": "medtasks://sure_mimic/test",
}
JUDGE = {
    "name": "openai:judge", "endpoint": "https://api.example.org/v1", "protocol": "med_cmr_open",
    "prompt": "med_cmr_open.txt", "version": 1, "digest": "0123", "settings": {}, "is_paper_judge": False,
}  # fmt: skip


def medq_deg(letters, said):
    """Three levels of each question; at L2 every model is wrong on every other."""
    rows = []
    for number, letter in enumerate(letters):
        for level in range(3):
            read = ["C" if level == 2 and number % 2 else letter] * 2
            doc = {
                "id": f"q{number}" + (f"/blur/L{level}" if level else ""), "question_id": f"q{number}", "answer": "A",
                "image_id": f"image {number}", "data": "full", "modality": "CT", "capability": HOSTILE,
                "degradation": "gaussian_noise" if level else "", "severity": level, "options": ["1", "2", "3", "4"],
            }  # fmt: skip
            found = measures.choice_question_record(doc, read)
            levels = {f"accuracy_l{each}": {} for each in range(3)}
            levels[f"accuracy_l{level}"] = {"score": found.measures["accuracy"].score, "cluster": found.cluster}
            row = {"questions": found.to_json(), **levels, "filtered_resps": [said, letter], "target": "A"}
            rows.append({**row, "input": f"{said}?"})
    return rows


def med_cmr_mcq(letters, said):
    rows = []
    for number, letter in enumerate(letters):
        doc = {
            "id": f"m{number}", "image_id": f"image {number}", "data": "full", "answer": "A", "options": list("wxyz"),
            "dimension": ("SOD", "CR")[number % 2], "modality": HOSTILE, "subtype": "x", "question_type": "Counting",
            "organ_system": "Chest",
        }  # fmt: skip
        values = med_cmr.process_results(doc, [letter])
        rows.append({**values, "filtered_resps": [said], "target": "A", "input": said})
    return rows


def med_cmr_open(letters, said):
    rows = []
    for number, letter in enumerate(letters):
        labels = dict.fromkeys(WEIGHTS, "5" if letter == "A" else "1")
        verdict = {"status": "judged", "labels": labels, "reason": "", "reply": "{}"}
        item = {"question": "?", "visual_description": "", "reference": "r", "reasoning": said, "answer": said}
        record = QuestionRecord(
            id=f"o{number}", cluster=f"image {number}", trials=("ok",), expected=None,
            measures={"exact_match": ScoreValue(0.0)},
            tags={
                "data": "full", "dimension": "SOD", "modality": HOSTILE, "subtype": "x", "question_type": "Counting",
                "organ_system": "Chest", "form": "open", "parts": "both",
            },
            judgement=QuestionJudgement(JUDGE, (item,), ((verdict,),)),
        )  # fmt: skip
        values = metric_values(med_cmr.SUITE, "open", med_cmr.record_with_verdicts(record))
        rows.append({**values, "filtered_resps": [said], "target": "a cyst", "input": said})
    return rows


def medobvious(letters, said):
    rows = []
    for number, letter in enumerate(letters):
        negative = number % 2
        doc = {
            "id": f"v{number}", "item": f"i{number}", "data": "full", "tier": 1 + number % 5, "kind": HOSTILE,
            "task_type": "detection_open", "negative": negative, "grid": "2x2", "options": [],
            "answer_position": "none" if negative else "top-left",
        }  # fmt: skip
        reply = doc["answer_position"] if letter == "A" else "top-right"
        rows.append(
            {
                **medobvious_measures.process_results(doc, [reply]),
                "filtered_resps": [said],
                "target": "A",
                "input": said,
            }
        )
    return rows


def sure(letters, said):
    rows = []
    for number, letter in enumerate(letters):
        side, kind = ("iid", "ood")[number % 2], ("closed", "open")[number // 2 % 2]
        label = ("1" if letter == "A" else "0") if kind == "closed" else ("5" if letter == "A" else "1")
        labels = {sure_measures.DIMENSIONS[kind]: label}
        judgement = QuestionJudgement(
            judge={**JUDGE, "protocol": f"sure_{kind}"},
            items=({"question": said, "reference": "r", "answer": said},),
            verdicts=(({"status": "judged", "labels": labels, "reason": "", "reply": "", "model": None},),),
        )
        made = QuestionRecord(
            id=f"s{number}",
            cluster=f"image {number}",
            trials=("ok",),
            expected=None,
            measures=dict.fromkeys(sure_measures.TEXT, ScoreValue(0.5)),
            tags={"data": "full", "set": side, "answer_type": kind, "modality": "CT"},
            judgement=judgement,
        )
        values = metric_values(sure_measures.SUITE, "pair", sure_measures.record_with_judged_score(made))
        rows.append({**values, "filtered_resps": [said], "target": "r", "input": said})
    return rows


TASKS = {
    "medq_deg": medq_deg, "med_cmr_mcq": med_cmr_mcq, "med_cmr_open": med_cmr_open, "medobvious": medobvious,
    "sure_slake_modality": sure,
}  # fmt: skip


@pytest.fixture(scope="package", autouse=True)
def own_home(tmp_path_factory):
    """Pictures that were made are not kept in the user's folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEDTASKS_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="session")
def rows_of():
    """By task what makes its rows, of letters (right is A) and what the model answers."""
    return TASKS


@pytest.fixture(scope="session")
def write(runs):
    """Writes a run: folder, model, letters (right is A), what it answers, tasks."""

    def one(folder, model, letters, said="A", tasks=TASKS, **more):
        rows = {task: make(letters, said) for task, make in tasks.items()}
        metadata = {"judge": {**JUDGE, "protocols": [JUDGE]}, **more.pop("metadata", {})}
        path = runs.write(folder, rows, model=model, metadata=metadata, **more)
        content = json.loads(path.read_text("utf-8"))
        for task, config in content["configs"].items():
            config["dataset_kwargs"] = {"data_files": {"test": DATA[task]}}
        path.write_text(json.dumps(content), "utf-8")
        return path

    return one


@pytest.fixture(scope="session")
def board_folder(tmp_path_factory, write):
    """Two models on every suite, one hostile; a third limited, a fourth broken."""
    folder = tmp_path_factory.mktemp("runs")
    write(folder / "good", "good", LETTERS["good"])
    write(folder / "bad", HOSTILE.replace("\u202e", ""), LETTERS["bad"], HOSTILE)
    write(folder / "part", "part", "AAA", tasks={"medobvious": medobvious}, limit=3.0, original=6)
    broken = write(folder / "broken", "broken", "AB", tasks={"medobvious": medobvious})
    log = next(broken.parent.glob("*.jsonl"))
    log.write_text(log.read_text("utf-8")[:-20], "utf-8")
    return folder


@pytest.fixture(scope="session")
def board(board_folder):
    return collect_entries([board_folder])


@pytest.fixture(scope="session")
def site_cache(tmp_path_factory):
    """The folder in which building :func:`site` keeps what it made of each run."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def site(tmp_path_factory, board, board_folder, site_cache):
    """The whole site of :func:`board_folder`."""
    output = tmp_path_factory.mktemp("out") / "site"
    build_site(board, output, SiteOptions(resamples=40, roots=(board_folder,), cache=BuildCache.at(site_cache)))
    return output


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    try:
        found = Browser(tmp_path_factory.mktemp("chromium"))
    except FileNotFoundError as error:
        pytest.skip(str(error))
    yield found
    found.close()


@pytest.fixture(scope="session")
def hostile():
    return HOSTILE
