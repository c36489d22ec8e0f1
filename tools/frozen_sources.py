"""What :mod:`tools.frozen_numbers` freezes: the runs it makes, and every number that the package makes of them.

:class:`Internals` holds all that no public surface gives. A change that renames one of these names mends it there, so
that the keys stay.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

Value = Mapping[str, Any]
Cells = Iterator[tuple[str, Value]]
ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "docs" / "examples"
MISTAKES = Path(__file__).with_name("frozen_mistakes.yml")
ENVIRONMENT = {
    "MEDTASKS_DATA": "mini", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "COLUMNS": "120", "NO_COLOR": "1",
    "TOKENIZERS_PARALLELISM": "false",
}  # fmt: skip
_FIRST = 2
"""Documents of each task whose prompts stand in the dump as text, and whose pixels are read."""
_PARTS = ("value", "low", "high", "sd", "n", "reason", "mark", "detectable", "tier")
_VARIES = (
    (re.compile(r"\d{8}_\d{6}(?:_\d+)?( UTC)?|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?"), "DATE"),
    (re.compile(r"\b[0-9a-f]{10,64}\b"), "HEX"),
    (re.compile(r"127\.0\.0\.1:\d+"), "LOOPBACK"),
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
    degraded = tuple(f"{task}@gaussian_noise.{level}" for task in ("med_cmr_mcq", "chest_side") for level in (1, 2))
    made["degraded/beta"] = Planned("beta", 0, ("med_cmr_mcq", "chest_side", *degraded))
    made |= {f"baselines/{model}": Planned(model, 0, (task,)) for model, task in BASELINES.items()}
    return made


def make_runs(folder: Path) -> None:
    """Make the runs that are not in ``folder`` yet, with what each task was asked in ``asked.jsonl`` beside them."""
    import lmms_medtasks as mt

    found = mt.list_tasks()
    for name, plan in plans(found[~found.group].name.tolist()).items():
        target = folder / name
        if not (target / "asked.jsonl").exists():
            _make_run(mt, plan, target, place=sum(map(ord, name)))
    judged = folder / "judged" / "alpha"
    if not (judged / "asked.jsonl").exists():
        _judge(folder / "core" / "alpha", judged)


def _make_run(mt: Any, plan: Planned, target: Path, place: int) -> None:
    shutil.rmtree(target, ignore_errors=True)
    model = plan.model if plan.model in BASELINES else _scripted(plan.model, plan.seed)
    scratch = target.with_name(target.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    with _environment(plan.environment):
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
                        "ids": _digest("\n".join(each[0] for each in shown)),
                        "prompts": _digest("\0".join(each[1] for each in shown)),
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
    prompts = sorted({each["messages"][0]["content"] for each in stub.requests})
    record = {"task": "judge", "documents": len(prompts), "prompts": _digest("\0".join(prompts)),
              "first": [{"id": str(place), "prompt": prompts[place]} for place in range(0, len(prompts), 25)]}  # fmt: skip
    (target / "asked.jsonl").write_text(json.dumps(record) + "\n", "utf-8")


def all_cells(runs: Path, scratch: Path) -> Cells:
    """Every cell of every source, a key and its parts."""
    import lmms_medtasks as mt

    inside = Internals()
    groups = sorted(path for path in runs.iterdir() if path.is_dir())
    for group in groups:
        for run in sorted(path for path in group.iterdir() if path.is_dir()):
            name = f"{group.name}/{run.name}"
            yield from _harness(run, name)
            yield from _asked(run, name)
    yield from pixels(mt)
    reports = {**{group.name: [group] for group in groups}, "everything": [runs / "core", runs / "rest"]}
    for name, paths in reports.items():
        yield from inside.report(mt, name, paths)
    pairs = [("core/alpha", "core/beta"), ("core/beta", "core/gamma"), ("examples/alpha", "examples/gamma"),
             ("seeds/alpha0", "seeds/alpha1")]  # fmt: skip
    for first, second in pairs:
        one, other = runs / first, runs / second
        name = f"{first}-{second}"
        made = mt.compare(one, other, include_path=EXAMPLES)
        yield from flattened(f"compare|{name}", made.to_dict())
        yield from inside.gate(name, one, other)
        yield from inside.power(name, one, other)
    yield from inside.board(runs, scratch / "site")
    yield from mistakes(runs, scratch)


def _harness(run: Path, name: str) -> Cells:
    for path in sorted(run.glob("*_results.json")):
        for task, found in json.loads(path.read_text("utf-8"))["results"].items():
            for metric, value in found.items():
                if metric not in ("alias", "name"):
                    yield key("harness", name, task, metric), {"value": value}


def _asked(run: Path, name: str) -> Cells:
    for line in (run / "asked.jsonl").read_text("utf-8").splitlines():
        found = json.loads(line)
        first = found.pop("first")
        yield from flattened(f"prompts|{name}|{found.pop('task')}", {**found, "first": {e.pop("id"): e for e in first}})


def pixels(mt: Any) -> Cells:
    """The digests of a drawn picture under each degradation, level and modality."""
    across = np.linspace(0, 1, 64)
    drawn = (np.hypot(across[:, None] - 0.45, across[None] - 0.55) < 0.3) * 0.5 + 0.3 * across[:, None]  # noqa: PLR2004
    drawn[20:24, 30:50] = 1.0
    picture = (255 * drawn.clip(0, 1)).astype(np.uint8)
    for modality, names in mt.list_modalities()[["name", "degradations"]].itertuples(index=False):
        for name in names:
            for level in (0, 1, 2):
                made = mt.degrade(picture, name, severity=level, seed=0, key="frozen", modality=modality)
                yield key("pixels", modality, name, str(level)), {"value": digest_of(made)}


def mistakes(runs: Path, scratch: Path) -> Cells:
    """What wrong command lines end with: the status and the text on stderr."""
    written = yaml.safe_load(MISTAKES.read_text("utf-8"))
    places = {"RUNS": str(runs), "OUT": str(scratch / "made"), "FILES": str(scratch / "files")}
    (scratch / "files").mkdir(parents=True, exist_ok=True)
    for name, text in written["files"].items():
        (scratch / "files" / name).write_text(text, "utf-8")
    for line in written["commands"]:
        arguments = [re.sub("RUNS|OUT|FILES", lambda found: places[found[0]], word) for word in line.split()]
        status, text = run_command(arguments, {})
        for name, place in places.items():
            text = text.replace(place, name)
        yield key("errors", line), {"value": status, "reason": plain(" ".join(text.split()))}


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


class Internals:
    """The numbers that no public surface gives in full, by the package's own names."""

    def __init__(self) -> None:
        from lmms_medtasks.board.site import pages
        from lmms_medtasks.report import views

        self._ids: dict[int, tuple[Any, str, list[Any]]] = {}
        self._written: dict[str, Any] = {}
        fill, write = views.Table.filled, pages.csv_text

        def filled(table: Any, sources: Any) -> Any:
            made = fill(table, sources)
            if made is not None:
                self._note(table, sources, made)
            return made

        def csv_text(table: Any, *more: Any) -> str:
            text = write(table, *more)
            self._written[text] = table
            return text

        views.Table.filled = filled  # type: ignore[method-assign]
        pages.csv_text = csv_text

    def _note(self, table: Any, sources: Any, made: Any) -> None:
        """Keep of each declared row what it is about, and over how many questions each cell is."""
        from lmms_medtasks.report.views import _both
        from lmms_medtasks.suites.estimates import Estimate

        for row, done in zip(table.rows_of(sources), made.rows, strict=False):
            counts: list[Any] = [None] * len(row.labels)
            source = row.source or sources[0]
            for column in table.columns_of(sources):
                of, where = row.estimates.get(column.name, column.of), _both(row.where, column.within)
                count = None
                if isinstance(of, Estimate) and where is not None:
                    rows = source.derived(column.over) if column.over else source
                    statistic = column.statistic if of is column.of or column.statistic else ""
                    count = getattr(rows.interval(of, where, statistic), "n", None)
                counts.append(count)
            about = [f"{name}={value}" for name, value in sorted(row.where.items())]
            self._ids[id(done)] = done, ",".join([*([row.source.name] if row.source else []), *about]), counts

    def table(self, name: str, table: Any) -> Cells:
        """The cells of a table of the package."""
        labels = next((n for n, each in enumerate(table.columns) if each.kind != "text"), len(table.columns))
        noted = [self._ids.get(id(row), (None, "", [None] * len(table.columns))) for row in table.rows]
        often = Counter(about for _, about, _ in noted)
        for row, (_, about, counts) in zip(table.rows, noted, strict=True):
            said = "/".join(str(cell.value) for cell in row.cells[: labels or 1] if cell.value is not None)
            row_id = about if about and often[about] == 1 else f"{about}:{said}" if about else said
            row_id = row_id if row.kind == "run" else f"{row.kind}:{row_id}"
            for column, cell, count in zip(table.columns, row.cells, counts, strict=True):
                if column.kind == "text" and column in table.columns[:labels]:
                    continue
                found = {part: getattr(cell, part, None) for part in _PARTS}
                yield key(name, row_id.replace("|", "/"), column.name.replace("|", "/")), {**found, "n": count}

    def report(self, mt: Any, name: str, paths: Sequence[Path]) -> Cells:
        """The cells of the report of these runs."""
        try:
            made = mt.report(paths, figures=False, include_path=EXAMPLES)
        except mt.UserError as error:
            yield key("report", name, "refused"), {"reason": plain(str(error))}
            return
        for part, table in made.document.tables():
            yield from self.table(f"report|{name}|{part.key}|{table.key}", table)

    def board(self, runs: Path, site: Path) -> Cells:
        """The cells of all tables of a site."""
        cache = ["--no-cache", "--include_path", str(EXAMPLES), "-o", str(site)]
        groups = [str(runs / each) for each in ("core", "rest", "examples", "judged")]
        status, text = call_command(["leaderboard", "build", *groups, *cache])
        yield key("board", "status"), {"value": status}
        for path in sorted((site / "data").rglob("*.csv")):
            written = path.read_text("utf-8")
            place = path.relative_to(site / "data").with_suffix("").as_posix()
            if written in self._written and not place.startswith("questions/"):
                yield from self.table(f"board|{place}", self._written[written])
            else:
                yield key("board", place), {"value": _digest(plain(written))}

    def gate(self, name: str, first: Path, second: Path) -> Cells:
        """The verdicts of a gate."""
        from lmms_medtasks.board.comparison import compared_entries, gate, gate_rules

        rules = gate_rules.read(None, margin=None, on_cannot_tell=None)
        one, other = (compared_entries.read(path, rules=rules.board) for path in (first, second))
        found = gate.gate(one, other, rules)
        yield key("gate", name, "decision"), {"value": found.decision}
        for each in found.verdicts:
            row = f"gate|{name}|{each.task}/{each.measure}"
            interval = each.interval
            drop = {part: getattr(interval, part, None) for part in ("low", "high", "n", "reason")}
            yield key(row, "drop"), {"value": getattr(interval, "estimate", None), **drop}
            for part in ("outcome", "effect", "baseline", "candidate", "most", "adjusted", "detectable", "margin"):
                yield key(row, part), {"value": getattr(each, part)}
            yield from flattened(f"{row}|test", vars(each.test) if each.test else {})

    def power(self, name: str, first: Path, second: Path) -> Cells:
        """What two runs can show."""
        from lmms_medtasks.board.comparison import compared_entries, planning
        from lmms_medtasks.statistics.power import Criterion

        plan = planning.Plan(0.02, Criterion(0.05, 0.8, 1), (1, 3, 10))
        one, other = (compared_entries.read(path) for path in (first, second))
        for each in planning.of_runs(one, other, plan):
            row = f"power|{name}|{each.task}/{each.measure}"
            yield key(row, "shown"), {"value": each.shown, "n": each.questions, "reason": each.reason}
            yield from flattened(row, {"images": each.images, "trials": each.trials, "needed": dict(each.needed)})


def call_command(arguments: Sequence[str]) -> tuple[int, str]:
    """Status and stdout of ``lmms-medtasks`` with these arguments, called in this process."""
    [entry] = importlib.metadata.entry_points(group="console_scripts", name="lmms-medtasks")
    before, said, status = sys.argv, io.StringIO(), 0
    try:
        sys.argv = ["lmms-medtasks", *arguments]
        with contextlib.redirect_stdout(said):
            status = entry.load()() or 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        sys.argv = before
    return status, said.getvalue()


_NAMES = ("task", "measure", "model", "id", "question", "name")
_WORDS = ("warnings", "notes", "path")


def flattened(name: str, found: Any) -> Cells:
    """The numbers and texts in what JSON can hold, each under its path; a list's items by what they name."""
    if isinstance(found, Mapping):
        for part, each in found.items():
            if part not in _WORDS:
                yield from flattened(key(name, str(part)), each)
    elif isinstance(found, (list, tuple)):
        for place, each in enumerate(found):
            named = [str(each[part]) for part in _NAMES if part in each] if isinstance(each, Mapping) else []
            yield from flattened(key(name, "/".join(named) or str(place)), each)
    else:
        yield name, {"value": found}


def key(*parts: str) -> str:
    """The key of a cell: source, what it is of, table, row, column."""
    return plain("|".join(parts).replace("\n", " "))


def plain(text: str) -> str:
    """A text without what differs between two dumps of the same state."""
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    return text


def digest_of(picture: Any) -> str:
    """The digest of a picture's pixels and shape, or of a text that stands between pictures."""
    if isinstance(picture, str):
        return _digest(picture)
    pixels = np.asarray(picture)
    return _digest(f"{pixels.shape}{pixels.dtype}".encode() + pixels.tobytes())


def _digest(text: str | bytes) -> str:
    # Shorter than what is taken for a digest of code or data, which may differ between two dumps.
    return hashlib.sha256(text.encode("utf-8", "replace") if isinstance(text, str) else text).hexdigest()[:9]


def _number(*parts: Any) -> int:
    return int(hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()[:15], 16)


@contextlib.contextmanager
def _environment(given: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(given)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
