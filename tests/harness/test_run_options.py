"""Options of the harness that change what a task asks: refused, or noted with the task."""

from types import SimpleNamespace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import run_options
from lmms_medtasks.samples.run_options import METADATA


def task(name="own", **config):
    own = {"task": name, "metadata": {"data_digest": "x"}, "generation_kwargs": {"temperature": 0.7, "until": []}}
    return SimpleNamespace(config=SimpleNamespace(**{**own, **config}))


def model(module="lmms_eval.models.simple.some", is_simple=True, **methods):
    made = type("Model", (), {"__module__": module, **methods})()
    made.is_simple = is_simple
    return made


@pytest.mark.parametrize(
    ("options", "tasks", "is_baseline", "said"),
    [
        ({"apply_chat_template": True}, [], False, "--apply_chat_template"),
        ({"num_fewshot": 3}, ["medobvious"], False, "--num_fewshot 3"),
        ({"num_fewshot": 3}, [], True, "baseline m"),
    ],
)
def test_options_that_a_model_of_ours_can_not_be_run_with_are_refused(options, tasks, is_baseline, said):
    with pytest.raises(UserError, match=said):
        run_options.check_command_options("m", tasks, options, is_baseline=is_baseline, lacks_template=True)


@pytest.mark.parametrize("options", [{}, {"num_fewshot": 0, "apply_chat_template": False, "system_instruction": None}])
def test_options_that_change_nothing_pass(options):
    run_options.check_command_options("m", ["t"], options, is_baseline=True, lacks_template=True)
    run_options.check_loaded_tasks(model(), [task(num_fewshot=0)], [], options)


def test_examples_of_a_task_of_ours_are_refused_wherever_they_stand():
    with pytest.raises(UserError, match="num_fewshot: 2: own"):
        run_options.check_loaded_tasks(model(), [task(num_fewshot=2)], [], {})


def test_another_task_may_show_examples_where_it_names_some():
    server = model("lmms_medtasks.harness.server_model")
    other = task("other", num_fewshot=2)
    with pytest.raises(UserError, match="other names no examples"):
        run_options.check_loaded_tasks(server, [], [other], {})
    run_options.check_loaded_tasks(model(), [], [other], {})  # neither is ours: the harness's to say
    other.sampler = object()
    run_options.check_loaded_tasks(server, [], [other], {})


def test_a_system_instruction_is_refused_for_a_chat_runner_only():
    asked = {"system_instruction": "Be brief."}
    run_options.check_loaded_tasks(model(), [task()], [], asked)
    with pytest.raises(UserError, match="chat runner"):
        run_options.check_loaded_tasks(model(is_simple=False), [task()], [], asked)
    run_options.check_system_instruction("simple", ["own"], asked)
    with pytest.raises(UserError, match="chat runner"):
        run_options.check_system_instruction("chat", ["own"], asked)


def test_a_model_with_a_chat_template_may_be_asked_by_it():
    own = model("lmms_medtasks.harness.own", apply_chat_template=lambda self, messages: "")
    run_options.check_loaded_tasks(own, [task()], [], {"apply_chat_template": True})
    with pytest.raises(UserError, match="--apply_chat_template"):
        run_options.check_loaded_tasks(model(), [task()], [], {"apply_chat_template": True})


def test_what_options_changed_is_noted_and_nothing_where_they_say_what_the_task_says():
    one, same = task(), task("same")
    run_options.remember_generation_settings([one, same])
    one.config.generation_kwargs.update({"temperature": 0, "top_k": 5})  # as the harness does, in place
    same.config.generation_kwargs.update({"temperature": 0.70})
    run_options.note_changed_options([one, same], {})
    assert one.config.metadata[METADATA] == {"generation": {"temperature": [0.7, 0], "top_k": [None, 5]}}
    assert METADATA not in same.config.metadata


def test_a_limit_of_replies_is_refused_where_the_task_has_one_for_each_question():
    limits = {"column": "kind", "limits": {"mcq": 32, "open": 96}}
    one, plain, unchanged = task("limited"), task("plain"), task("unchanged")
    one.config.lmms_eval_specific_kwargs = unchanged.config.lmms_eval_specific_kwargs = {
        "default": {"new_tokens": limits}
    }
    run_options.remember_generation_settings([one, plain, unchanged])
    one.config.generation_kwargs["max_new_tokens"] = plain.config.generation_kwargs["max_new_tokens"] = 500
    unchanged.config.generation_kwargs["temperature"] = 0
    run_options.check_loaded_tasks(model(), [plain, unchanged], [], {})
    with pytest.raises(UserError, match=r"max_new_tokens=500: limited limits each reply by kind \(mcq 32, open 96\)"):
        run_options.check_loaded_tasks(model(), [one], [], {})


@pytest.mark.parametrize(
    ("tags", "noted"),
    [
        ('[["<think>", "</think>"], ["<analysis>", "</analysis>"]]', None),
        (None, None),
        ("none", None),  # the harness strips nothing of our tasks anyway
        ('[["<t>", "</t>"]]', [["<t>", "</t>"]]),
    ],
)
def test_other_tags_of_reasoning_and_a_system_instruction_are_noted(tags, noted):
    one = task()
    run_options.remember_generation_settings([one])
    run_options.note_changed_options(
        [one], {"cli_args": SimpleNamespace(reasoning_tags=tags), "system_instruction": "Be brief."}
    )
    told = one.config.metadata[METADATA]
    assert told.get("reasoning_tags") == noted
    assert len(told["system_instruction"]) == 12 and "brief" not in str(told)
