"""``TASK@degradation.level`` for tasks of many makes: same pixels for simple and chat models, the rest as the base."""

import json
import os

import numpy as np
import pytest
from lmms_eval import evaluator
from lmms_eval.evaluator import simple_evaluate
from lmms_eval.tasks import TaskManager
from PIL import Image

from lmms_medtasks import degradations, digests, folders
from lmms_medtasks.degradations import corruptions
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import degraded_lookup, degraded_pictures, plugin
from tests import foreign_tasks
from tests.e2e.shown_runner import ShownChat, ShownSimple, digest

PICTURES = [foreign_tasks.picture(number) for number in range(foreign_tasks.PICTURES)]
EVERY = [n for n in foreign_tasks.TASKS if n not in ("forms_degraded", "forms_python", "forms_choices")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return foreign_tasks.write(tmp_path_factory.mktemp("foreign"))


def manager(folder, kind="simple"):
    plugin.install_plugin(TaskManager)
    made = TaskManager(include_path=str(folder), include_defaults=False, model_name="some")
    made._lmms_medtasks_runner = kind
    return made


def run(folder, tasks, model=ShownSimple, **given):
    own = manager(folder, "simple" if model.is_simple else "chat")
    lm = model()
    names = own.match_tasks(tasks)
    found = simple_evaluate(
        model=lm, tasks=names, task_manager=own, batch_size=1, bootstrap_iters=0, log_samples=True, **given
    )
    return found, lm


def replies(found, task):
    return {row["doc_id"]: row["resps"][0] for row in found["samples"][task]}


def seed_of(picture, seed=0):
    return f"{degraded_pictures.pixel_digest(picture)}/{seed}"


def noisy(picture, severity=2):
    return degradations.apply(picture, "gaussian_noise", severity=severity, seed=seed_of(picture))


@pytest.fixture(scope="module")
def both(folder):
    asked = [*EVERY, *(f"{name}@gaussian_noise.2" for name in EVERY)]
    return [run(folder, asked, model) for model in (ShownSimple, ShownChat)]


@pytest.mark.parametrize("task", EVERY)
def test_simple_and_chat_models_are_shown_the_same_degraded_pixels(both, task):
    """Of every form in which a task shows pictures; the clean task of the same run shows its own."""
    for found, _ in both:
        for name, shown in ((task, lambda picture: picture), (f"{task}@gaussian_noise.2", noisy)):
            own = replies(found, name)
            assert len(own) == foreign_tasks.QUESTIONS
            for number, reply in own.items():
                wanted = [digest(shown(PICTURES[number % len(PICTURES)]))]
                wanted += [digest(shown(PICTURES[0]))] if task == "forms_several" else []
                assert set(reply) == {" ".join(wanted)}, (name, number)


def test_trials_of_a_question_are_shown_one_picture(both):
    for found, _ in both:
        assert {len(each) for each in replies(found, "forms_trials@gaussian_noise.2").values()} == {3}


def test_all_but_the_pictures_is_the_base_task_s(both):
    for found, lm in both:
        configs, prompts = found["configs"], lm.prompts
        for name in EVERY:
            own, base = dict(configs[f"{name}@gaussian_noise.2"]), dict(configs[name])
            assert own.pop("task") == f"{base.pop('task')}@gaussian_noise.2"
            own.pop("metadata"), base.pop("metadata", None)
            assert json.dumps(own, default=str) == json.dumps(base, default=str)
            assert found["n-shot"][f"{name}@gaussian_noise.2"] == found["n-shot"][name]
            metrics = [
                {key for key in found["results"][each] if key != "alias"} for each in (name, f"{name}@gaussian_noise.2")
            ]
            assert metrics[0] == metrics[1]
        # Few-shot examples too: each prompt was given twice, and no other.
        with_examples = [each for each in prompts if each.count("Question") == 3]
        assert len(with_examples) == 2 * foreign_tasks.QUESTIONS
        assert {with_examples.count(each) for each in with_examples} == {2}


def test_num_fewshot_of_the_command_reaches_both_alike(folder):
    found, lm = run(folder, ["forms_fewshot", "forms_fewshot@gaussian_noise.2"], num_fewshot=1)
    assert set(found["n-shot"].values()) == {1}
    assert len(lm.prompts) == 2 * foreign_tasks.QUESTIONS
    assert {lm.prompts.count(each) for each in lm.prompts} == {2}
    assert {each.count("Question") for each in lm.prompts} == {2}


def test_the_same_share_is_shown_and_recorded(folder):
    names = [f"forms_pil@gaussian_blur.2{lengths}" for lengths in ("", "~lengths=share")]
    found, _ = run(folder, names)
    for name, lengths in zip(names, degradations.base.LENGTHS, strict=True):
        for number, reply in replies(found, name).items():
            clean = PICTURES[number % len(PICTURES)]
            shown = degradations.apply(clean, "gaussian_blur", severity=2, seed=seed_of(clean), lengths=lengths)
            assert set(reply) == {digest(shown)}
        assert found["configs"][name]["metadata"]["degradation"].get("lengths", "pixels") == lengths
        shares = {each["length_share"] for row in found["samples"][name] for each in row["degraded_pictures"]}
        assert shares == {0.01449 if lengths == "share" else 0.03125}
    assert digest(shown) != digest(clean)


def test_metadata_say_what_was_done(both):
    for found, _ in both:
        done = found["configs"]["forms_pil@gaussian_noise.2"]["metadata"]["degradation"]
        assert {key: done[key] for key in ("of", "name", "level", "seed", "pictures", "changed")} == {
            "of": "forms_pil",
            "name": "gaussian_noise",
            "level": "2",
            "seed": 0,
            "pictures": 3,
            "changed": 3,
        }
        assert done["code"] == digests.degradations_digest() and set(done["libraries"]) >= {"numpy", "pillow"}
        assert found["configs"]["forms_pil@gaussian_noise.2"]["metadata"]["version"] == 1.0
        assert found["configs"]["forms_several@gaussian_noise.2"]["metadata"]["of_base"] == [{"version": 2.0}]
        assert "degradation" not in found["configs"]["forms_pil"]["metadata"]


def test_each_answer_is_logged_with_its_pictures_and_what_was_done_to_them(both):
    for found, _ in both:
        for row in found["samples"]["forms_several@gaussian_noise.2"]:
            own = [PICTURES[row["doc_id"] % 3], PICTURES[0]]
            assert [each["picture"] for each in row["degraded_pictures"]] == [*map(degraded_pictures.pixel_digest, own)]
            assert {each["name"] for each in row["degraded_pictures"]} == {"gaussian_noise"}
            assert all(each["sigma"] > 0 for each in row["degraded_pictures"])
        assert not any("degraded_pictures" in row for row in found["samples"]["forms_several"])


def test_questions_on_one_picture_share_its_draw_and_limits_do_not_move_it(folder, both):
    whole = replies(both[0][0], "forms_pil@gaussian_noise.2")
    assert whole[0] == whole[3] != whole[1] == whole[4]
    part, _ = run(folder, ["forms_pil@gaussian_noise.2"], offset=4, limit=2)
    assert replies(part, "forms_pil@gaussian_noise.2") == {4: whole[4], 5: whole[5]}


def test_a_strength_is_a_level_between_the_two_and_beyond(folder):
    """The same draw at every strength, and what was done in the log and the metadata."""
    asked = [f"forms_pil@gaussian_noise.{level}" for level in ("0.5", "1", "1.5", "3")]
    found, _ = run(folder, asked)
    for name, strength in zip(asked, (0.5, 1.0, 1.5, 3.0), strict=True):
        shown = degradations.apply(PICTURES[1], "gaussian_noise", strength=strength, seed=seed_of(PICTURES[1]))
        assert replies(found, name)[1] == [digest(shown)]
        assert found["configs"][name]["metadata"]["degradation"]["level"] == f"{strength:g}"
    assert replies(found, asked[1])[1] == [digest(noisy(PICTURES[1], 1))]
    sigmas = [found["samples"][name][0]["degraded_pictures"][0]["sigma"] for name in asked]
    assert sigmas == sorted(set(sigmas))


def test_the_control_is_untouched_and_other_seeds_draw_anew(folder):
    asked = ["forms_pil", "forms_pil@sparse_view.0", "forms_pil@gaussian_noise.2", "forms_pil@gaussian_noise.2~seed=1"]
    found, _ = run(folder, asked)
    assert replies(found, "forms_pil@sparse_view.0") == replies(found, "forms_pil")
    assert replies(found, asked[2])[0] != replies(found, asked[3])[0]
    assert "changed" not in found["configs"]["forms_pil@sparse_view.0"]["metadata"]["degradation"]


def test_a_task_of_python(folder):
    found, _ = run(folder, ["forms_python@gaussian_noise.1"])
    assert replies(found, "forms_python@gaussian_noise.1")[1] == [digest(noisy(PICTURES[1], 1))]


def test_groups_tags_wildcards_and_group_yamls(folder):
    asked = [
        "forms_group@gaussian_noise.2",
        "forms_tag@motion_blur.1",
        "forms_sev*@gaussian_noise.1",
        "forms_beside",
        "forms_degraded",
    ]
    found, _ = run(folder, asked)
    wanted = {
        *("forms_pil@gaussian_noise.2", "forms_paths@gaussian_noise.2"),
        *("forms_pil@motion_blur.1", "forms_paths@motion_blur.1"),
        *("forms_pil", "forms_pil@gaussian_noise.1", "forms_paths@motion_blur.2", "forms_several@gaussian_noise.2"),
        *("forms_several@gaussian_noise.1", "forms_degraded"),
    }
    assert set(found["samples"]) == wanted
    assert set(found["group_subtasks"]["forms_group@gaussian_noise.2"]) == {
        "forms_pil@gaussian_noise.2",
        "forms_paths@gaussian_noise.2",
    }
    assert len(found["group_subtasks"]["forms_beside"]) == 4
    assert replies(found, "forms_degraded") == replies(found, "forms_pil@gaussian_noise.2")
    told = found["configs"]["forms_degraded"]["metadata"]["degradation"]
    assert told["of"] == "forms_degraded" and "scores" not in told  # it has no clean one: it is not paired with itself
    # One after another: each of its own pictures only.
    assert replies(found, "forms_paths@motion_blur.1") != replies(found, "forms_paths@motion_blur.2")


def test_the_data_of_a_base_are_loaded_once(folder, monkeypatch):
    loaded = []
    from lmms_eval.api.task import ConfigurableTask

    download = ConfigurableTask.download
    monkeypatch.setattr(
        ConfigurableTask, "download", lambda self, kwargs=None: (loaded.append(1), download(self, kwargs))
    )
    own = manager(folder)
    names = own.match_tasks(["forms_pil", "forms_pil@gaussian_noise.2", "forms_pil@motion_blur.1"])
    tasks = own.load_task_or_group(names, "simple")
    assert len(loaded) == 1 and len(tasks) == 3
    assert own.load_task_or_group(["forms_pil"], "simple")["forms_pil"] is not tasks["forms_pil"]


def test_the_other_kinds_of_degradation(folder, tmp_path, monkeypatch):
    (tmp_path / "own_degradation.py").write_text(
        "from PIL import ImageOps\ndef invert(image, generator, level):\n"
        "    return ImageOps.invert(image) if level == 2 else image.rotate(90 * generator.integers(1, 4))\n",
        "utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    asked = [
        "forms_pil@corruptions.high",
        "forms_pil@own_degradation.invert.2",
        "forms_column@low_resolution.2~column=modality",
    ]
    asked += [f"forms_pil@draw3_{number}.2~CT" for number in (1, 2, 3)]
    found, _ = run(folder, asked)
    clean = PICTURES[1]
    wanted = corruptions.apply_parameters(clean, corruptions.sample(strength="high", seed=seed_of(clean)))
    assert replies(found, asked[0])[1] == [digest(wanted)]
    assert replies(found, asked[1])[1] == [digest(Image.fromarray(255 - np.asarray(clean)))]
    assert len(found["configs"][asked[1]]["metadata"]["degradation"]["code"]) == 12
    wanted = degradations.apply(clean, "low_resolution", severity=2, seed=seed_of(clean), modality="MRI")
    assert replies(found, asked[2])[1] == [digest(wanted)]
    for number in range(foreign_tasks.QUESTIONS):
        drawn = {found["samples"][name][number]["degraded_pictures"][0]["name"] for name in asked[3:]}
        assert len(drawn) == 3 and drawn <= set(degradations.drawn_for("CT"))


REFUSALS = {
    "forms_text@gaussian_noise.2": "shows no images",
    "forms_asked": "shows no images",
    "forms_misspelt": "Did you mean 'gaussian_noise'",
    "forms_nothing@gaussian_noise.2": "none of the first 6 questions",
    "forms_video@gaussian_noise.2": "film.mp4",
    "forms_sound@gaussian_noise.2": "video or sound",
    "forms_address@gaussian_noise.2": "https://example.org/a.png",
    "forms_films@gaussian_noise.2": "task of videos",
    "forms_rounds@gaussian_noise.2": "several rounds",
    "forms_cot@gaussian_noise.2": "has images made",
    "forms_degraded@motion_blur.1": "degraded images already",
    "forms_pill@gaussian_noise.2": "Did you mean 'forms_pil'",
    "nothing_l*@gaussian_noise.2": "no task is called like",
    "forms_pil@sparse_view.2~column=modality": "document 1, column 'modality'",
    "forms_pil@gaussian_noise.2~column=answer": "Unknown modality 'answer 0'",
    "forms_pil@gaussian_noise.2~column=kind": "no column 'kind'",
    "forms_pil@no_such_module.function.1": "PYTHONPATH",
    "forms_pil@os.path.isdir.1": "a PIL image and a NumPy generator",
}


@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.parametrize("kind", ["simple", "chat"])
def test_what_can_not_be_degraded_is_refused_before_a_model_is_there(folder, name, kind):
    with pytest.raises(UserError) as raised:
        manager(folder, kind).match_tasks([name])
    assert REFUSALS[name] in str(raised.value)
    assert name.partition("@")[0] in str(raised.value)


FILMS = "forms_film_messages@gaussian_noise.2"


class Swallowing(ShownChat):
    """Takes errors for replies, as runners do that ask servers."""

    def generate_until(self, requests):
        try:
            return super().generate_until(requests)
        except ValueError:
            return ["failed"] * len(requests)


class Blind(ShownSimple):
    def generate_until(self, requests):
        return ["A"] * len(requests)


def has_result(found, name):
    return any(key != "alias" for key in found["results"][name])


def failed(found, name):
    return found["configs"][name]["metadata"]["degradation"].get("failed", "")


@pytest.mark.parametrize("model", [ShownChat, Swallowing])
def test_what_shows_only_in_messages_fails_its_task_and_no_other(folder, model, capsys):
    """Whether the runner ends with the error or takes it for a reply."""
    found, _ = run(folder, ["forms_pil", "forms_pil@gaussian_noise.2", FILMS], model)
    assert "holds video" in failed(found, FILMS) and not has_result(found, FILMS)
    assert f"{FILMS}: a question holds video" in capsys.readouterr().err
    assert has_result(found, "forms_pil") and has_result(found, "forms_pil@gaussian_noise.2")
    assert replies(found, "forms_pil@gaussian_noise.2")[1] == [digest(noisy(PICTURES[1]))]


def test_a_task_of_which_no_picture_changed_fails_and_no_other(folder):
    """Its groups have no number either: their mean would hold its."""
    black = "forms_black@adjust_brightness.1"
    found, _ = run(folder, ["forms_pil@adjust_brightness.1", "forms_with_black@adjust_brightness.1"])
    assert "none of its 1 images" in failed(found, black)
    assert not has_result(found, black) and not has_result(found, "forms_with_black@adjust_brightness.1")
    assert len(found["samples"][black]) == 1  # the replies are paid for
    assert has_result(found, "forms_pil@adjust_brightness.1")
    assert not failed(found, "forms_pil@adjust_brightness.1")


def test_a_model_that_asks_for_no_picture_fails_but_for_the_control(folder):
    found, _ = run(folder, ["forms_pil", "forms_pil@gaussian_noise.2", "forms_pil@gaussian_noise.0"], Blind)
    assert "without asking for an image" in failed(found, "forms_pil@gaussian_noise.2")
    assert not has_result(found, "forms_pil@gaussian_noise.2")
    assert has_result(found, "forms_pil") and has_result(found, "forms_pil@gaussian_noise.0")


def test_a_metric_that_is_no_mean_has_totals(both):
    for found, _ in both:
        done = found["configs"]["forms_classes@gaussian_noise.2"]["metadata"]["degradation"]
        assert done["scores"] == {"f1_of_classes,none": "totals only"}


def test_multiple_choice_is_refused_where_the_harness_can_not_score_it(folder, monkeypatch):
    """lmms-eval 0.7.3 makes a text of each loss; where it does not, each choice is asked with degraded pictures."""
    asked = ["forms_choices", "forms_choices@gaussian_noise.2"]
    with pytest.raises(UserError, match="forms_choices@gaussian_noise.2 can't be asked.*multiple_choice"):
        manager(folder).match_tasks(asked)
    monkeypatch.setattr(evaluator, "unwrap_generation_output", lambda output: (output, None))
    found, lm = run(folder, asked)
    assert len(lm.seen) == 2 * foreign_tasks.QUESTIONS * 2
    for (task, number, _), shown in lm.seen.items():
        clean = PICTURES[number % len(PICTURES)]
        assert shown == digest(clean if task == asked[0] else noisy(clean))
    done = found["configs"][asked[1]]["metadata"]["degradation"]
    assert done["changed"] == foreign_tasks.PICTURES
    assert done["best_scores"] == {"acc,none": 1.0} and done["scores"]["acc,none"] == "logged"
    assert done["scores"]["f1,none"] == "totals only"


def test_other_processes_than_the_first_load_nothing_early(folder, monkeypatch):
    monkeypatch.setitem(os.environ, "RANK", "1")
    own = manager(folder)
    assert own.match_tasks(["forms_video@gaussian_noise.2"]) == ["forms_video@gaussian_noise.2"]
    assert not getattr(own, degraded_lookup._KEPT)


def test_tasks_of_ours_that_are_degraded_already_are_refused(monkeypatch):
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    own = manager(folders.suites_root())
    for name in ("medq_deg_l2", "sure_slake_corrupted_high"):
        with pytest.raises(UserError, match=f"{name} shows degraded images already"):
            own.match_tasks([f"{name}@motion_blur.1"])
    assert own.match_tasks(["medq_deg_l0@motion_blur.1"]) == ["medq_deg_l0@motion_blur.1"]


def test_the_response_cache_knows_what_was_done(folder, tmp_path, monkeypatch):
    """The same is served, without asking for a picture; other code of the degradations is asked anew."""
    name, cache = "forms_pil@gaussian_noise.2", str(tmp_path / "cache")

    def asked():
        found, lm = run(folder, [name], use_cache=cache)
        return len(lm.prompts), found["configs"][name]["metadata"]["degradation"]["pictures"]

    assert [asked(), asked()] == [(6, 3), (0, 0)]
    degraded_pictures.code_of.cache_clear()
    monkeypatch.setattr(digests, "degradations_digest", lambda: "0123456789ab")
    assert asked() == (6, 3)
    degraded_pictures.code_of.cache_clear()


def test_trials_and_questions_of_a_picture_cost_one_degradation(folder, monkeypatch):
    made = []
    original = degradations.apply
    monkeypatch.setattr(degradations, "apply", lambda *given, **how: (made.append(given), original(*given, **how))[1])
    degraded_pictures.picture_cache.default_cache.cache_clear()
    run(folder, ["forms_trials@exposure.2"])
    assert len(made) == foreign_tasks.PICTURES


def test_each_answer_is_logged_with_its_scores_beside_the_clean_one(both):
    for found, _ in both:
        for name in ("forms_pil", "forms_pil@gaussian_noise.2"):
            own = [row["paired_scores"]["own,none"] for row in found["samples"][name]]
            assert set(own) <= {0.0, 100.0} and np.mean(own) == pytest.approx(found["results"][name]["own,none"])
        done = found["configs"]["forms_pil@gaussian_noise.2"]["metadata"]["degradation"]
        assert done["scores"] == {"own,none": "logged"}


def test_a_runner_that_reencodes_pictures_is_recorded_for_others_tasks_too(folder):
    own = manager(folder)
    own.model_name = "gemma3"
    name = "forms_pil@gaussian_noise.2"
    found = own.load_task_or_group([name], "simple")[name]
    assert found.config.metadata["image_encoding"] == "JPEG quality 85"
