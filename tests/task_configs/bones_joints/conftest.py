"""Runs of Bones and Joints written by hand, in the form that the harness writes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lmms_medtasks.record import KEY, QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.task_configs.bones_joints.measures import judged_measures
from tests.made_up_runs import write_files

NAMES = {
    "t1": "knowledge", "t2": "note", "t3": "image", "t4": "diagnosis", "t5": "diagnostic_reasoning", "t6": "treatment",
    "t7": "treatment_reasoning", "t8": "inconsistency",
}  # fmt: skip
PROTOCOLS = {
    "t4": "bones_joints_answer", "t5": "bones_joints_reasoning", "t6": "bones_joints_answer",
    "t7": "bones_joints_reasoning", "t8": "bones_joints_inconsistency",
}  # fmt: skip
# case: site, disease, listed
CASES = {"a": ("knee", "gout", "unlisted"), "b": ("hip", "gout", "unlisted"),
         "c": ("knee", "anterior cruciate ligament tear", "listed"), "d": ("skull", "", "")}  # fmt: skip
LABELS = {"+": "Correct", "-": "Incorrect", "?": "Unclear", "N": "Named", "W": "Named but went on", "M": "Missed"}
JUDGE = {"name": "openai:gpt-4o", "version": 1, "digest": "0123456789ab", "settings": {}, "is_paper_judge": True}


def tags(task, case):
    site, disease, listed = CASES[case]
    return {"case_id": case, "image_case": case, "paper_task": task, "site": site,
            "image_site": site, "disease": disease, "disease_listed": listed, "data": "full"}  # fmt: skip


def image(task, case):
    return case if task not in ("t1", "t2") else f"text-{task}-{case}"


def choice(task, case, letter):
    """A record whose right answer is A; "!" is a failed request, "~" cannot be read, "_" is empty."""
    trial = {"!": "failed", "~": "unreadable", "_": "empty"}.get(letter, letter)
    score = None if letter == "!" else float(letter == "A")
    measures = {"accuracy": ScoreValue(score)}
    return QuestionRecord(
        f"{task}-{case}", image(task, case), (trial,), "A", measures, {**tags(task, case), "option_count": 5}
    )


def verdict(task, letter, steps):
    if letter == "x":
        return {"status": "missing", "labels": {}, "reason": "no verdict: prose", "reply": ""}
    labels = {"verdict": ("Missed" if task == "t8" else "Incorrect") if letter == "0" else LABELS[letter]}
    if PROTOCOLS[task] == "bones_joints_reasoning":
        labels["steps_found"] = steps
    settled = letter == "0"
    return {"status": "exact" if settled else "judged", "labels": labels, "reason": "no answer" if settled else "",
            "reply": ""}  # fmt: skip


def answered(task, case, said, judge, steps):
    """A judged record; ``said`` has a letter of :data:`LABELS` a judgement, "x" is a missing one, "0" the worst by a
    rule; "" is a failed request."""
    verdicts = tuple(verdict(task, letter, steps) for letter in said)
    item = {
        "question": f"Pain\x1b in <b>{case}</b>",
        "asked": "it",
        "reference": "1. a\n2. b",
        "answer": "It is <i>fine</i>.",
    }
    if task == "t8":
        item = {"question": item["question"], "text_site": CASES[case][0], "image_site": "wrist", "reference": "r",
                "answer": item["answer"]}  # fmt: skip
    asked = {**judge, "protocol": PROTOCOLS[task], "prompt": f"{PROTOCOLS[task]}.txt"}
    judgement = QuestionJudgement(asked, (item if said else None,), (verdicts,))
    own = {**tags(task, case), **({"image_site": "wrist", "image_case": "z"} if task == "t8" else {})}
    trials = ("ok" if said else "failed",)
    return QuestionRecord(
        f"{task}-{case}", image(task, case), trials, None, judged_measures(judgement), own, judgement=judgement
    )


@pytest.fixture
def write_bones(tmp_path):
    """Call as write_bones(name, t1="AAB-", t4="+++ ---", ...): a letter a case (t1 to t3) or a word a case (others)."""

    def write(name="run", *, model="some_model", judge=JUDGE, steps="1", data="full", **given):
        folder = tmp_path / name
        folder.mkdir()
        configs, rows = {}, {}
        for key, replies in given.items():
            task, _, how = key.partition("_")
            full = f"bones_joints_{task}_{NAMES[task]}" + (f"_{how}" if how else "")
            settings = {"no_image": how in ("noimage", "report"), "report": how == "report"}
            configs[full] = {"metadata": {"data": data}, "lmms_eval_specific_kwargs": {"default": settings},
                             "dataset_kwargs": {"data_files": {"test": "medtasks://bones_joints/x"}}}  # fmt: skip
            words = replies if task in ("t1", "t2", "t3") else replies.split(" ")
            records = [
                choice(task, case, word) if task in ("t1", "t2", "t3") else answered(task, case, word, judge, steps)
                for case, word in zip(CASES, words, strict=False)
            ]
            if how == "swapped":
                records = [replace(record, tags={**record.tags, "image_case": "other"}) for record in records]
            rows[full] = [{KEY: record.to_json(), "filtered_resps": ["x"]} for record in records]
        write_files(folder, rows, configs, config={"model": "hf", "model_args": f"pretrained={model}"})
        return folder

    return write
