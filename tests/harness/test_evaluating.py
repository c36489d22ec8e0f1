"""What is checked before the harness evaluates our tasks."""

from types import SimpleNamespace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import evaluating, hooks


def test_another_number_of_trials_than_the_task_has_is_refused():
    filters = [{"name": "trials", "filter": [{"function": "take_first_k", "k": 3}]}]
    config = SimpleNamespace(task="t", repeats=5, filter_list=filters, metadata={"data_digest": "x"})
    tasks = {"group": {"t": SimpleNamespace(config=config)}}
    with pytest.raises(UserError, match="T = 3 trials, --repeats asks for 5"):
        evaluating._check_repeats(tasks)
    config.repeats = 3
    evaluating._check_repeats(tasks)
    config.repeats, config.metadata = 5, {}  # not ours
    evaluating._check_repeats(tasks)


def test_terms_hold_for_a_task_of_ones_own_too():
    settings = {"default": {"judge": "sure_mimic_open"}}
    config = SimpleNamespace(task="own", metadata={"version": 1.0}, lmms_eval_specific_kwargs=settings)
    tasks = {"own": SimpleNamespace(config=config)}
    runner = type("Claude", (), {"__module__": "lmms_eval.models.simple.claude"})()
    with pytest.raises(UserError, match="may not be asked 'own': Anthropic is a third party"):
        evaluating._check_model(runner, tasks)
    with pytest.raises(UserError, match="--write_out prints prompts of own"):
        evaluating._check_write_out(tasks, True)
    settings["default"]["judge"] = "sure_open"
    evaluating._check_model(runner, tasks)
    evaluating._check_write_out(tasks, True)


@pytest.mark.parametrize("by_place", [True, False])
def test_what_is_given_by_place_is_checked_too(by_place):
    asked = []
    module = SimpleNamespace(evaluate=lambda lm, task_dict, limit=None: asked.append(lm) or {"results": {}})
    evaluating.join_evaluator(module)
    settings = {"default": {"judge": "sure_mimic_open"}}
    config = SimpleNamespace(task="own", metadata={}, lmms_eval_specific_kwargs=settings, filter_list=[], repeats=1)
    tasks = {"own": SimpleNamespace(config=config)}
    runner = type("Claude", (), {"__module__": "lmms_eval.models.simple.claude"})()
    with pytest.raises(UserError, match="Anthropic is a third party"):
        module.evaluate(runner, tasks) if by_place else module.evaluate(lm=runner, task_dict=tasks)
    assert asked == []
    assert module.evaluate(runner, {}, 3) == {"results": {}} and asked == [runner]


def pictures_task(columns, settings=None, **changes):
    config = {"task": "own", "test_split": "test", "doc_to_visual": hooks.doc_to_visual, "doc_to_messages": None}
    dataset = {"test": SimpleNamespace(column_names=columns)}
    config = SimpleNamespace(**{**config, **changes})
    return {"g": {"own": SimpleNamespace(config=config, dataset=dataset, lmms_eval_specific_kwargs=settings)}}


def test_a_task_that_would_show_other_pictures_than_ours_is_refused():
    evaluating._check_pictures(pictures_task(["id", "image"]))
    evaluating._check_pictures(pictures_task(["id", "images"]))
    with pytest.raises(UserError, match=r"own has a doc_to_messages of its own beside .*hooks\.doc_to_visual"):
        evaluating._check_pictures(pictures_task(["id", "image"], doc_to_messages=lambda doc: []))
    with pytest.raises(UserError, match="own has no column image or images"):
        evaluating._check_pictures(pictures_task(["id", "picture"]))
    evaluating._check_pictures(pictures_task(["id", "picture"], {"no_image": True}))
    evaluating._check_pictures(pictures_task(None))  # streamed
    # Not our hook: whatever it takes its pictures from.
    evaluating._check_pictures(pictures_task(["id"], doc_to_visual=lambda doc: [], doc_to_messages=lambda doc: []))
