"""Runs by the papers' settings and with prompts of the user's own, through the real harness."""

from __future__ import annotations

import pytest

from lmms_medtasks.harness import chosen_settings
from lmms_medtasks.suites import paper

RANDOM = ("--model", "medtasks_random")


def formats(text):
    """By what its prompt asks for, whether a request is multiple choice, about the red box, or open."""
    return "mcq" if "A) " in text else "visual" if "red box" in text else "open"


def asked(stub):
    """By format the limits that the server was sent, and whether the prompts begin with the system's."""
    found = {}
    for body in stub.requests:
        parts = body["messages"][0]["content"]
        (text,) = [part["text"] for part in parts if part["type"] == "text"]
        found.setdefault(formats(text), set()).add((body["max_tokens"], text.startswith("You check grids")))
    return found


@pytest.mark.parametrize(
    ("name", "system", "launcher"),
    [("paper", True, ("-m", "lmms_eval")), ("paper-hosted", False, "torchrun")],
    ids=["open weights", "hosted, two processes"],
)
def test_medobvious_is_asked_as_the_authors_scripts_ask(harness, stub, name, system, launcher):
    model = ("--model", "medtasks_server", "--model_args", f"model=tiny,base_url={stub.url},retries=0")
    done = harness(*model, "--tasks", "medobvious", launcher=launcher, **{paper.VARIABLE: name})
    assert asked(stub) == {"mcq": {(32, system)}, "open": {(96, system)}, "visual": {(64, system)}}
    config = done.run.content["configs"]["medobvious"]
    assert config["metadata"]["settings"]["name"] == name
    assert config["task_alias"] == f"medobvious ({name} settings) (mini data)"
    numbers = done.run.tasks["medobvious"]
    assert {"accuracy,trials", "accuracy_paper_rule,trials", "accuracy_paper_rule_hosted,trials"} <= set(numbers)
    titles = [
        each.title for each in paper.find_paper_protocol("medobvious").remaining("medobvious", paper.facts_of(config))
    ]
    assert "Length of a reply" not in titles and "System prompt" not in titles


def test_sure_vqa_is_asked_and_judged_as_in_the_paper(harness):
    done = harness(*RANDOM, "--tasks", "sure_slake_modality_iid", **{paper.VARIABLE: "paper"})
    config = done.run.content["configs"]["sure_slake_modality_iid"]
    assert config["generation_kwargs"]["max_new_tokens"] == 100
    asked = {row["input"] for row in done.samples("sure_slake_modality_iid")}
    yes_no = [text for text in asked if "yes or no" in text]
    assert yes_no and all("? Please choose one of the two options: yes or no." in text for text in yes_no)
    rules = {
        verdict["reason"]
        for row in done.samples("sure_slake_modality_iid")
        for verdicts in row["questions"]["judgement"]["verdicts"]
        for verdict in verdicts
        if verdict["status"] == "exact"
    }
    assert rules <= {"exact match, unfolded"}


def test_settings_without_a_change_are_recorded_and_set_nothing_apart(harness):
    done = harness(*RANDOM, "--tasks", "med_cmr_mcq", "--limit", "4", **{paper.VARIABLE: "paper"})
    config = done.run.content["configs"]["med_cmr_mcq"]
    assert config["metadata"]["settings"] == {"name": "paper", "changes": {}}
    assert config["task_alias"] == "med_cmr_mcq (mini data)"


def test_a_prompt_of_the_users_own_is_asked_by_and_recorded(harness, tmp_path):
    file = tmp_path / "mine.txt"
    file.write_text("Look.\n{question}\n{options}\nLetter:")
    done = harness(
        *RANDOM,
        "--tasks",
        "med_cmr_mcq,medobvious_detection_mcq",
        "--limit",
        "4",
        **{chosen_settings.PROMPT: str(file)},
    )
    for task in ("med_cmr_mcq", "medobvious_detection_mcq"):
        metadata = done.run.content["configs"][task]["metadata"]
        assert metadata["own_prompt"]["name"] == "mine.txt"
        assert metadata["own_prompt"]["digest"] == metadata["digests"]["prompt"]
        assert all(row["input"].startswith("Look.\n") for row in done.samples(task))


@pytest.mark.parametrize(
    ("variable", "value", "task", "message"),
    [
        (paper.VARIABLE, "papper", "med_cmr_mcq", "Did you mean 'paper'"),
        (paper.VARIABLE, "paper-hosted", "sure_slake_modality_iid", "Allowed: paper"),
        (chosen_settings.PROMPT, "med_cmr_mqc=x", "med_cmr_mcq", "Unknown task 'med_cmr_mqc'"),
        (chosen_settings.PROMPT, b"Look. {question}", "med_cmr_mcq", "no place {options}"),
        (chosen_settings.PROMPT, b"Look. {question} {options} {case}", "med_cmr_mcq", "has the place {case}"),
        (chosen_settings.PROMPT, b"\xff {question} {options}", "med_cmr_mcq", "not UTF-8 text"),
    ],
)
def test_refused(harness, tmp_path, variable, value, task, message):
    """``value``: bytes are those of a file that is named."""
    if isinstance(value, bytes):
        (tmp_path / "bad.txt").write_bytes(value)
        value = str(tmp_path / "bad.txt")
    done = harness(*RANDOM, "--tasks", task, **{variable: value}, status=2)
    assert message in " ".join(done.printed.split())
