"""A judge's prompt of the user's own: put in by YAML, checked before anything is asked, part of who judged."""

import dataclasses

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import chosen_settings, judging_stage, rejudging
from lmms_medtasks.judges import cache, identity, registry, settings
from lmms_medtasks.judges.protocol import JudgedItem

TEXT = "In other words. {{question}} {{reference}} {{answer}} Give 0, 0.5 or 1.\n"


def config(**default):
    return {"task": "t", "lmms_eval_specific_kwargs": {"default": {"judge": "open_answer", **default}}}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(TEXT)
    return path


@pytest.mark.parametrize("form", [str, lambda file: {"open_answer": str(file)}, lambda file: {"": str(file)}])
def test_a_file_stands_in_place_of_the_prompt_and_makes_another_judge_of_it(file, form):
    (own,) = registry.task_protocols(config(judge_prompt=form(file)))
    ours = registry.get("open_answer")
    assert own == dataclasses.replace(ours, prompt=str(file))
    judge = settings.read_judge_settings({"OPENAI_API_KEY": "k"}, "openai:m")
    said = [identity.describe_judge(judge, each) for each in (ours, own)]
    assert said[0]["digest"] != said[1]["digest"] and said[1]["prompt"] == "mine.txt"
    assert identity.judge_differences(*said)
    item = JudgedItem("q", {"question": "q", "reference": "r", "answer": "a"})
    assert cache.verdict_cache_key(judge, ours, item, 0) != cache.verdict_cache_key(judge, own, item, 0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{{question}} {{answer}}", "places.*must be the same"),
        (b"{{question}} {{answer}} {{reference}} {{image}}", "image.*must be the same"),
        (b"\xff\xfe{{question}}", "not UTF-8 text"),
    ],
)
def test_a_malformed_prompt_is_an_error_before_anything_is_asked(tmp_path, content, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        judging_stage.check_judge_use([config(judge_prompt=str(path))])


def test_names_that_are_of_no_protocol_and_files_that_are_not_there(tmp_path, file, monkeypatch):
    with pytest.raises(UserError, match=r"open_anser.*Allowed: open_answer"):
        registry.task_protocols(config(judge_prompt={"open_anser": str(file)}))
    with pytest.raises(UserError, match="No judge prompt"):
        registry.task_protocols(config(judge_prompt=str(tmp_path / "none.txt")))
    with pytest.raises(UserError, match="none.txt"):
        chosen_settings.format_prompt_files([str(tmp_path / "none.txt")])
    monkeypatch.setenv(chosen_settings.JUDGE_PROMPT, f"sure_open={file}")
    with pytest.raises(UserError, match=r"sure_open.*Allowed: open_answer"):
        chosen_settings.check_chosen_names(["t"], [config()])


def test_a_number_in_place_of_a_file_is_told_as_a_file_that_is_not_there(tmp_path):
    found, _ = chosen_settings.apply_chosen_settings(config(judge_prompt={"open_answer": 3}), tmp_path)
    with pytest.raises(UserError, match="No judge prompt"):
        registry.task_protocols(found)
    with pytest.raises(UserError, match="judge_prompt: 3: expected a file's name"):
        chosen_settings.apply_chosen_settings(config(judge_prompt=3), tmp_path)


def test_a_yaml_names_a_file_beside_it_and_the_variable_stands_above(tmp_path, file, monkeypatch):
    found, _ = chosen_settings.apply_chosen_settings(config(judge_prompt="mine.txt"), tmp_path)
    assert [each.prompt for each in registry.task_protocols(found)] == [str(file)]
    other = tmp_path / "other.txt"
    other.write_text(TEXT)
    monkeypatch.setenv(chosen_settings.JUDGE_PROMPT, chosen_settings.format_prompt_files([f"open_answer={other}"]))
    found, _ = chosen_settings.apply_chosen_settings(config(judge_prompt="mine.txt"), tmp_path)
    assert [each.prompt for each in registry.task_protocols(found)] == [str(other)]


def test_two_prompts_for_one_protocol_in_a_run_are_refused(file):
    with pytest.raises(UserError, match="two prompts"):
        judging_stage.check_judge_use([config(), config(judge_prompt=str(file))])


def test_the_judge_command_judges_by_another_prompt_into_another_folder(harness, judge_server, tmp_path):
    """Verdicts by two prompts never stand in one log; the new file says by which."""
    run, _ = harness(["effusion", "cat", "dog"], ["judge_open"], RETRIES=0)
    path = tmp_path / "stars.txt"
    path.write_text("Anew. {{question}} {{reference}} {{answer}}")
    changed = rejudging.with_judge_prompts(run, [f"judge_sample:PROTOCOL={path}"], [])
    (judged,) = rejudging.find_judged_tasks([changed], [])
    assert judged.protocols[0].prompt == str(path)
    with pytest.raises(UserError, match="judged by .* in another way than now.*digest"):
        judged.check_same(settings.read_judge_settings())
    with pytest.raises(UserError, match=r"other.*Allowed: judge_sample:PROTOCOL"):
        rejudging.with_judge_prompts(run, [f"other={path}"], [])


def test_what_was_chosen_is_refused_beside_tasks_of_others(monkeypatch):
    chosen_settings.check_only_our_tasks(["mmmu_val"])
    monkeypatch.setenv("MEDTASKS_SETTINGS", "paper")
    chosen_settings.check_only_our_tasks([])
    with pytest.raises(UserError, match="MEDTASKS_SETTINGS applies only to lmms-medtasks tasks, not to mmmu_val"):
        chosen_settings.check_only_our_tasks(["mmmu_val"])
