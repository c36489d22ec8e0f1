"""What is checked before the harness evaluates our tasks."""

import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import evaluating, hooks, relied_on


def test_another_number_of_trials_than_the_task_has_is_refused():
    filters = [{"name": "trials", "filter": [{"function": "take_first_k", "k": 3}]}]
    config = SimpleNamespace(task="t", repeats=5, filter_list=filters, metadata={"data_digest": "x"})
    with pytest.raises(UserError, match="T = 3 trials, --repeats asks for 5"):
        evaluating._check_repeats([config])
    config.repeats = 3
    evaluating._check_repeats([config])
    assert evaluating.is_our_task(config)
    config.metadata = {}
    assert not evaluating.is_our_task(config)


@pytest.mark.parametrize("stated", [{"judge": "sure_mimic_open"}, {"terms": "Ours alone."}])
def test_terms_hold_for_a_task_of_ones_own_too(stated):
    settings = {"default": stated}
    config = SimpleNamespace(task="own", metadata={"version": 1.0}, lmms_eval_specific_kwargs=settings)
    runner = type("Claude", (), {"__module__": "lmms_eval.models.simple.claude"})()
    with pytest.raises(UserError, match="may not be asked 'own': Anthropic is a third party"):
        evaluating._check_model(runner, [config])
    with pytest.raises(UserError, match="--write_out prints prompts of own"):
        evaluating._check_write_out([config])
    settings["default"] = {"judge": "sure_open"}
    evaluating._check_model(runner, [config])
    evaluating._check_write_out([config])


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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"num_fewshot": 2}, "--num_fewshot 2: medq_deg_l2"),
        ({"apply_chat_template": True}, "openai has no method"),
        ({"system_instruction": "Be brief."}, "no chat runner"),
        ({"num_fewshot": 2, "model": "medtasks_observer", "task_manager": None}, "baseline medtasks_observer"),
    ],
)
def test_options_are_refused_before_a_model_is_loaded(options, said):
    loaded = []

    def simple_evaluate(model, task_manager=None, num_fewshot=None, apply_chat_template=False, system_instruction=None):
        loaded.append(model)

    module = SimpleNamespace(evaluate=lambda lm, task_dict: None, simple_evaluate=simple_evaluate)
    evaluating.join_evaluator(module)
    manager = SimpleNamespace(**{evaluating.OURS: ("medq_deg_l2",)})
    given = {"model": "openai", "task_manager": manager}
    with pytest.raises(UserError, match=said):
        module.simple_evaluate(**{**given, **options})
    assert loaded == []
    module.simple_evaluate(**given, num_fewshot=0, apply_chat_template=False)
    assert loaded == ["openai"]


def pictures_task(columns, settings=None, **changes):
    config = {"task": "own", "test_split": "test", "doc_to_visual": hooks.doc_to_visual, "doc_to_messages": None}
    dataset = {"test": SimpleNamespace(column_names=columns)}
    config = SimpleNamespace(**{**config, **changes})
    return [SimpleNamespace(config=config, dataset=dataset, lmms_eval_specific_kwargs=settings)]


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


def sampled(**settings):
    settings = {"temperature": 1.0, "do_sample": True, **settings}
    config = SimpleNamespace(task="draws", metadata={"data_digest": "x"}, generation_kwargs=settings)
    return config, evaluating._sampling_by_task([config])


def of_harness(module, **attributes):
    """A runner as far as its class goes."""
    at = {"__module__": module, "generate_until": lambda self, requests: []}
    return type("Runner", (), {**at, **attributes})()


@pytest.mark.parametrize(
    ("module", "ranks", "why"),
    [
        ("lmms_eval.models.chat.openai", 1, "no top_k and repetition penalty"),
        ("lmms_eval.models.chat.async_openai", 1, "no top_p, top_k and repetition penalty"),
        ("lmms_eval.models.simple.gpt4v", 1, "no top_p; OpenAI"),
        ("lmms_eval.models.simple.never_heard_of", 1, "not known"),
        ("elsewhere", 1, "not known"),
        ("lmms_eval.models.simple.vllm", 2, "same seed"),
        ("lmms_eval.models.simple.vllm", 1, None),
        ("lmms_eval.models.chat.vllm", 2, None),
        ("lmms_medtasks.harness.baseline_models", 2, None),
    ],
)
def test_where_shipped_settings_can_not_be_set_aside_the_result_file_says_so(monkeypatch, module, ranks, why):
    monkeypatch.setenv("WORLD_SIZE", str(ranks))
    config, drawn = sampled()
    with evaluating._one_task_a_call(of_harness(module), [config], drawn):
        pass
    assert "checkpoint_sampling_set_aside" not in config.metadata  # {} would promise that none act
    assert config.metadata.get("trials_independent") == ("unknown" if why else None)
    assert (why or "") in config.metadata.get("trials_independent_why", "")


def test_settings_of_a_transformers_model_are_reached():
    transformers = pytest.importorskip("transformers")
    model = SimpleNamespace(generation_config=transformers.GenerationConfig(do_sample=True, top_k=1))
    lm = of_harness("lmms_eval.models.chat.internvl_hf", model=model)
    for (config, drawn), expected in (
        (sampled(), {"top_k": "1 -> 0"}),
        (sampled(temperature=0), {"do_sample": "True -> False"}),
    ):
        with evaluating._one_task_a_call(lm, [config], drawn):
            pass
        assert config.metadata["checkpoint_sampling_set_aside"] == expected
        assert "trials_independent" not in config.metadata
    # One whose model has more settings of its own.
    config, drawn = sampled()
    with evaluating._one_task_a_call(of_harness("lmms_eval.models.simple.minicpm_v", model=model), [config], drawn):
        pass
    assert config.metadata["trials_independent"] == "unknown"


def test_a_runner_that_always_decodes_greedily_is_refused_for_trials():
    lm = of_harness("lmms_eval.models.simple.xcomposer2d5")
    with pytest.raises(UserError, match="draws: trials are draws .* always decodes greedily"):
        evaluating._check_draws(lm, sampled()[1])
    evaluating._check_draws(lm, sampled(temperature=0)[1])
    evaluating._check_draws(of_harness("lmms_eval.models.chat.openai"), sampled()[1])


def test_a_run_that_is_interrupted_ends_by_the_signal_and_without_frames():
    code = (
        "from types import SimpleNamespace\n"
        "from lmms_medtasks.harness.evaluating import join_evaluator\n"
        "def simple_evaluate(model=None, task_manager=None):\n"
        "    raise KeyboardInterrupt\n"
        "module = SimpleNamespace(evaluate=lambda lm, task_dict: None, simple_evaluate=simple_evaluate)\n"
        "join_evaluator(module)\n"
        "module.simple_evaluate()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGINT and done.stderr.splitlines()[-1] == "Interrupted."
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("part", ["our tasks with --use_cache", "our tasks in several processes"])
def test_what_is_missing_for_one_kind_of_run_refuses_ours_in_that_only(monkeypatch, part):
    asked = []
    module = SimpleNamespace(evaluate=lambda lm, task_dict, response_cache=None: asked.append(task_dict) or {})
    evaluating.join_evaluator(module)
    point = next(each for each in relied_on.POINTS if each.part == part)
    monkeypatch.setattr(relied_on, "list_missing_points", lambda wanted=None: [point] if wanted == part else [])
    if "processes" in part:
        monkeypatch.setenv("WORLD_SIZE", "2")
    cache = None if "processes" in part else object()
    lm = of_harness("lmms_eval.models.chat.openai")
    other = {"other": SimpleNamespace(config=SimpleNamespace(task="other", metadata={}))}
    assert module.evaluate(lm, other, cache) == {} and asked == [other]
    with pytest.raises(UserError, match=f"draws: .* so {part} do not run"):
        module.evaluate(lm, {"draws": SimpleNamespace(config=sampled()[0])}, cache)
    assert asked == [other]
