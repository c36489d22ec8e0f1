"""The runs that :mod:`tools.frozen_numbers` makes: models whose replies follow from a seed, on the mini data."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "docs" / "examples"
ENVIRONMENT = {
    "MEDTASKS_DATA": "mini", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "COLUMNS": "120", "NO_COLOR": "1",
    "TOKENIZERS_PARALLELISM": "false", "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    # What is not committed yet is not told: cells are compared, not checkouts.
    "GIT_CEILING_DIRECTORIES": str(Path(__file__).resolve().parents[1]),
}  # fmt: skip
_FIRST = 2
"""Documents of each task whose prompts stand in the dump as text, and whose pixels are read."""
_VARIES = (
    (re.compile(r"\d{8}_\d{6}(?:_\d+)?( UTC)?|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?"), "DATE"),
    (re.compile(r"\b[0-9a-f]{10,64}\b"), "HEX"),
    (re.compile(r"\b[\w.-]+@[0-9a-f]{7,40}\b"), "COMMIT"),
    (re.compile(r"127\.0\.0\.1:\d+"), "LOOPBACK"),
    (re.compile(r"\b0x[0-9a-f]{8,}\b"), "ADDRESS"),
)


class Planned(NamedTuple):
    """A run to make: model, number of its draws, tasks, variables of the environment."""

    model: str
    seed: int
    tasks: tuple[str, ...]
    environment: Mapping[str, str] = {}


CORE = (
    "bones_joints_t1_knowledge", "bones_joints_t2_note", "bones_joints_t3_image", "bones_joints_t4_diagnosis",
    "bones_joints_t5_diagnostic_reasoning", "bones_joints_t6_treatment", "bones_joints_t7_treatment_reasoning",
    "bones_joints_t8_inconsistency", "med_cmr_mcq", "med_cmr_open", "medobvious", "medq_deg_l0", "medq_deg_l1",
    "medq_deg_l2", "sure_slake_modality", "sure_slake_question_type", "sure_mimic_gender",
)  # fmt: skip
MANY_TRIALS = ("medq_deg", "medq_deg_calib", "medq_deg_circular")
"""Tasks with so many requests that a part of them has to do."""
LEXICAL, PART = {"MEDTASKS_JUDGE": "lexical"}, {"MEDTASKS_SUBSET": "60"}
BASELINES = {
    "medtasks_random": "med_cmr_mcq", "medtasks_most_frequent": "sure_slake_modality_iid",
    "medtasks_observer": "medq_deg_l0", "medtasks_pixel_outlier": "medobvious_detection_mcq",
}  # fmt: skip
RIGHT = {"alpha": 0.75, "beta": 0.6, "gamma": 0.55}
"""How often each model knows the answer. The replies of gamma fail or are cut more often than those of the others."""


def plans(all_tasks: Sequence[str]) -> dict[str, Planned]:
    """The runs by name, those of one model and tasks side by side."""
    others = [task for task in all_tasks if task not in CORE and task not in MANY_TRIALS]
    subsets = tuple(task for task in others if re.search("_iid|_ood|(obvious_(?!neutral|noimage))", task))
    rest = tuple(task for task in others if task not in subsets)
    examples = ("chest_side", "chest_side_noimage", "lesion_words", "lesion_words_noimage")
    part = ("sure_slake_modality_iid", "medq_deg_l0", "medobvious_t1", "bones_joints_t3_image", "med_cmr_mcq")
    made = {f"core/{model}": Planned(model, 0, CORE, LEXICAL) for model in RIGHT}
    made |= {f"seeds/alpha{seed}": Planned("alpha", seed, part) for seed in (0, 1, 2)}
    made |= {f"examples/{model}": Planned(model, 0, examples, LEXICAL) for model in RIGHT}
    made |= {"rest/alpha": Planned("alpha", 0, rest), "subsets/alpha": Planned("alpha", 0, subsets)}
    made["part/alpha"] = Planned("alpha", 0, MANY_TRIALS, PART)
    made["paper/beta"] = Planned("beta", 0, ("medobvious", "sure_slake_modality_iid"), {"MEDTASKS_SETTINGS": "paper"})
    degraded = ("chest_side", "chest_side@gaussian_noise.1", "chest_side@gaussian_noise.2")
    made["degraded/beta"] = Planned("beta", 0, degraded)
    made |= {f"baselines/{model}": Planned(model, 0, (task,)) for model, task in BASELINES.items()}
    return made


def make_runs(folder: Path) -> None:
    """Make the runs that are not in ``folder`` yet, with what each task was asked in ``asked.jsonl`` beside them.

    In processes of their own: a fork of one that has read data may not read them again.
    """
    _in_fork(lambda: _make_planned(folder))
    _in_fork(lambda: _judge(folder / "core" / "alpha", folder / "judged" / "alpha"))


def _in_fork(act: Callable[[], None]) -> None:
    sys.stdout.flush()
    child = os.fork()
    if not child:
        try:
            act()
        except BaseException:  # noqa: BLE001 (nothing of the parent may be run here)
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("The runs could not be made: see above.")


def _make_planned(folder: Path) -> None:
    import lmms_medtasks as mt

    found = mt.list_tasks()
    for name, plan in plans(found[~found.group].name.tolist()).items():
        if not (folder / name / "asked.jsonl").exists():
            _make_run(mt, plan, folder / name, place=sum(map(ord, name)))


def _make_run(mt: Any, plan: Planned, target: Path, place: int) -> None:
    shutil.rmtree(target, ignore_errors=True)
    model = plan.model if plan.model in BASELINES else _scripted(plan.model, plan.seed)
    scratch = target.with_name(target.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    with mock.patch.dict(os.environ, plan.environment):
        mt.evaluate(model, list(plan.tasks), output=scratch, include_path=EXAMPLES)
    _at_fixed_date(scratch, f"20260101_{place:06d}")
    asked = [] if isinstance(model, str) else model.asked()
    (scratch / "asked.jsonl").write_text("".join(json.dumps(each, sort_keys=True) + "\n" for each in asked), "utf-8")
    scratch.rename(target)


def _at_fixed_date(folder: Path, date: str) -> None:
    """Take out of a run's files when and how fast it was made."""
    for path in sorted(folder.rglob("*_*")):
        if path.name.endswith("_results.json"):
            content = json.loads(path.read_text("utf-8"))
            content["date"] = date
            for name in [name for name in content if "time" in name or name.startswith("git")]:
                del content[name]
            path.write_text(json.dumps(content), "utf-8")
        if path.is_file():
            path.rename(folder / re.sub(r"^\d{8}_\d{6}(_\d+)?", date, path.name))


def _scripted(name: str, seed: int) -> Any:
    """A model of the harness whose replies depend on name, seed, task, question and trial alone."""
    from lmms_eval.api.instance import GenerationResult, TokenCounts
    from lmms_eval.api.model import lmms

    class Scripted(lmms):  # type: ignore[misc]
        is_simple = True

        def __init__(self) -> None:
            super().__init__()
            self.name = name
            self._seen: dict[str, dict[int, tuple[str, str, list[str], str]]] = {}
            self._settings: dict[str, Any] = {}

        def generate_until(self, requests: list[Any]) -> list[Any]:
            trials: Counter[tuple[str, int]] = Counter()
            replies = []
            for request in requests:
                prompt, settings, pictures, number, task, split = request.args
                document = self.task_dict[task][split][number]
                seen, self._settings[task] = self._seen.setdefault(task, {}), dict(settings)
                if number not in seen:
                    shown = (pictures(document) or []) if len(seen) < _FIRST else []
                    seen[number] = (str(document.get("id", number)), prompt, [digest_of(each) for each in shown], name)
                drawn = np.random.default_rng(_number(name, seed, task, number, trials[task, number]))
                trials[task, number] += 1
                reply, cut = _reply(document, prompt, drawn, RIGHT[name], faulty=name == "gamma")
                tokens = TokenCounts(output_tokens=settings.get("max_new_tokens", 0) if cut else 5)
                replies.append(GenerationResult(text=reply, token_counts=tokens))
            return replies

        def asked(self) -> list[dict[str, Any]]:
            """What each task was asked, a record a task."""
            found = []
            for task, seen in sorted(self._seen.items()):
                shown = [seen[number] for number in sorted(seen)]
                found.append(
                    {
                        "task": task,
                        "settings": self._settings[task],
                        "documents": len(shown),
                        "ids": digest("\n".join(each[0] for each in shown)),
                        "prompts": digest("\0".join(each[1] for each in shown)),
                        "first": [{"id": each[0], "prompt": each[1], "pixels": each[2]} for each in shown[:_FIRST]],
                    }
                )
            return found

        def loglikelihood(self, requests: list[Any]) -> list[Any]:
            raise NotImplementedError

        generate_until_multi_round = loglikelihood

    return Scripted()


_FORMS = ("{}", "{}.", "The answer is ({}).", "**Answer:** {}", "I think that it is {}, as far as I can see.")
_ODD = (
    "", "I'm sorry, but I can't help with medical questions.", "A or B", "I have no idea.", "<think>It could be A",
    "C</think> none of these", "<think>First A, then</think>B", "Yes. No.",
)  # fmt: skip
_FAILED = "[LMMS_EVAL_REQUEST_FAILED after 1 retries] boom"


def _reply(document: Mapping[str, Any], prompt: str, drawn: Any, right: float, faulty: bool) -> tuple[str, bool]:
    """A reply, and whether the limit of tokens cut it."""
    choice, odd, form, other = drawn.random(), drawn.random(), drawn.integers(len(_FORMS)), drawn.integers(1000)
    if odd < (0.03 if faulty else 0.0):
        return _FAILED, False
    if odd < 0.12:  # noqa: PLR2004 (a share that shows in each outcome)
        return _ODD[other % len(_ODD)], faulty and other % 2 == 0
    answer = str(document.get("answer") or "")
    options, choices = document.get("options") or [], str(document.get("choices") or "")
    if options and len(answer) == 1:
        wrong = [chr(ord("A") + place) for place in range(len(options)) if chr(ord("A") + place) != answer]
    elif choices:
        wrong = [each for each in choices.split(" | ") if each.casefold() != answer.casefold()]
    else:
        wrong = ["yes", "no", "top-left", "none", "an opacity in the left lung", answer[: len(answer) // 2]]
    said = answer if choice < right or not wrong else wrong[other % len(wrong)]
    return _FORMS[form].format(said) if len(said) < 30 else said, False  # noqa: PLR2004 (a form is for short answers)


def _judge(run: Path, target: Path) -> None:
    """Judge a copy of a run by a stub on loopback, and keep what it was asked."""
    if (target / "asked.jsonl").exists():
        return
    # Not by name: installed packages have folders called tests.
    made = importlib.util.spec_from_file_location("stub_judge", ROOT / "tests" / "stub_judge.py")
    assert made is not None and made.loader is not None
    stub_judge = sys.modules["stub_judge"] = importlib.util.module_from_spec(made)
    made.loader.exec_module(stub_judge)

    def verdict(prompt: str, labels: dict[str, list[Any]]) -> dict[str, Any]:
        asked: dict[str, Any] = dict.fromkeys(re.findall(r'"(\w+)": \[<', prompt), [])
        return asked | stub_judge.hashed(prompt, labels)

    stub = stub_judge.Stub(verdict=verdict)
    server = stub_judge.start(stub)
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(exist_ok=True)
    told = {"LLM_JUDGE_URL": f"{stub.url}/chat/completions", "OPENAI_API_KEY": "none"}
    status, text = run_command(["judge", "run", str(run), "--judge", "local:stub", "-o", str(target)], told)
    server.shutdown()
    server.server_close()
    if status not in (0, 1):  # 1: judgements are missing, those that the stub can't give
        raise RuntimeError(f"judge ended with {status}: {text}")
    _at_fixed_date(target, "20260102_000000")
    for path in target.rglob("*.json*"):
        path.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:9", path.read_text("utf-8")), "utf-8")
    prompts = sorted({request["messages"][0]["content"] for request in stub.requests})
    first = [{"id": str(place), "prompt": prompts[place]} for place in range(0, len(prompts), 25)]
    record = {"task": "judge", "documents": len(prompts), "prompts": digest("\0".join(prompts)), "first": first}
    (target / "asked.jsonl").write_text(json.dumps(record) + "\n", "utf-8")


def run_command(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
    """Status and stderr of ``lmms-medtasks`` with these arguments, run in a fork: imports are paid for once."""
    [entry] = importlib.metadata.entry_points(group="console_scripts", name="lmms-medtasks")
    command: Callable[[], Any] = entry.load()
    with tempfile.TemporaryFile() as errors, open(os.devnull, "w") as nothing:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if not child:
            status: Any = 1
            try:
                os.environ.update(environment)
                sys.modules["__main__"].__package__ = None  # else usage lines name this tool
                os.dup2(nothing.fileno(), 1)
                os.dup2(errors.fileno(), 2)
                sys.argv = ["lmms-medtasks", *arguments]
                status = command()
            except SystemExit as ended:
                status = ended.code
            except BaseException as error:  # noqa: BLE001 (what came through is what is frozen)
                print(f"{type(error).__name__}: {error}", file=sys.stderr)
            sys.stderr.flush()
            os._exit(status if isinstance(status, int) else int(status is not None))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        errors.seek(0)
        return status, errors.read().decode("utf-8", "replace")


def plain(text: str) -> str:
    """A text without what differs between two dumps of the same state."""
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    return text


def digest_of(picture: Any) -> str:
    """The digest of a picture's pixels and shape, or of a text that stands between pictures."""
    if isinstance(picture, str):
        return digest(picture)
    pixels = np.asarray(picture)
    return digest(f"{pixels.shape}{pixels.dtype}".encode() + pixels.tobytes())


def digest(text: str | bytes) -> str:
    # Shorter than what is taken for a digest of code or data, which may differ between two dumps.
    return hashlib.sha256(text.encode("utf-8", "replace") if isinstance(text, str) else text).hexdigest()[:9]


def _number(*parts: Any) -> int:
    return int(hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()[:15], 16)
