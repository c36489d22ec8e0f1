"""Read folders of runs and packs into a leaderboard; broken files are named and do not stop the others."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lmms_medtasks.board import checks, installed, packs, references, side_by_side
from lmms_medtasks.board.boards import Leaderboard, TaskReference
from lmms_medtasks.board.entries import EntryProblem, EntryQuestions, LeaderboardEntry
from lmms_medtasks.board.rules import BoardRules, read_board_rules
from lmms_medtasks.board.run_entry import entry_of, is_kept
from lmms_medtasks.board.trust import limits, safe_files
from lmms_medtasks.board.trust.levels import SCORES_ONLY
from lmms_medtasks.board.trust.pins import Key, pin_key
from lmms_medtasks.board.trust.rules_of_trust import NONE, TrustRules, account_of
from lmms_medtasks.build_cache import NO_CACHE, BuildCache
from lmms_medtasks.errors import UserError, nearest_path
from lmms_medtasks.progress import progress_bar
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.degraded import find_base_task
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import make_printable, model_name
from lmms_medtasks.suites import registry

_SMALL = 2**23
"""Bytes of all logs below which starting processes costs more than it saves."""
_KEPT = 64
"""A log whose table is cached is read as fast as one this many times smaller."""

_PUBLIC = {"coverage": "public_coverage", "failure_rate": "public_failure_rate"}
"""Thresholds, and those that replace them on a public board."""


@dataclass(frozen=True)
class ReadJob:
    """One thing to read: a task of a run, or a pack."""

    path: Path
    run: ResultFile | None = None
    task: str = ""

    @property
    def size(self) -> int:
        return (self.path if self.run is None else self.run.samples_file(self.task)).stat().st_size


def collect_entries(
    paths: Iterable[Path],
    *,
    rules: BoardRules | Path | None = None,
    processes: int = 1,
    tasks: Sequence[str] = (),
    trust: TrustRules | None = None,
    cache: BuildCache = NO_CACHE,
    by_measure: bool = False,
) -> Leaderboard:
    """Read all runs and packs that ``paths`` are or hold.

    ``rules``: of the board (:mod:`lmms_medtasks.board.rules`). ``processes``: logs that are read at once, each in its
    own process (a script that asks for more than 1 guards its main part by ``__name__``). ``tasks``: only these.
    ``trust``: pins, owners and levels of a public board. ``cache``: keeps what was read of a log. ``by_measure``:
    whether an entry that only lacks a judge is ranked by the measures that need none, as on a site; packs and
    comparisons take whole entries.

    Refused and unranked entries do not influence which version is ranked. Raises UserError if a path does not exist.
    """
    chosen = rules if isinstance(rules, BoardRules) else read_board_rules(rules)
    paths, trust = list(paths), trust or NONE
    if trust.in_public:
        public = {name: chosen.thresholds[other] for name, other in _PUBLIC.items()}
        chosen = replace(chosen, thresholds={**chosen.thresholds, **public})
    jobs, problems = _list_read_jobs(paths, chosen, tasks)
    entries: list[LeaderboardEntry] = []
    shared: dict[str, EntryQuestions] = {}
    for outcome in _read_jobs(jobs, chosen, processes, cache):
        if isinstance(outcome, EntryProblem):
            problems.append(outcome)
            continue
        for entry in outcome:
            if tasks and entry.task not in tasks:
                continue
            if refusal := _not_allowed(entry, paths, trust, chosen):
                problems.append(refusal)
                continue
            # Entries on the same questions share them.
            questions = shared.setdefault(entry.questions.digest, entry.questions)
            entries.append(
                replace(entry, questions=questions, level=trust.levels.get(entry.source.digest, SCORES_ONLY))
            )
    entries.sort(key=lambda each: (each.suite, each.task, each.model.key, each.source.date, str(each.source.results)))
    sound, refused = _split_refused([_with_found_problems(checks.own_problems, entry, chosen) for entry in entries])
    single, copies = side_by_side.without_copies(sound, chosen)
    kept, more, references_of = _mark_ranked_entries(single, chosen, trust, by_measure)
    of_entries = [problem for entry in kept for problem in entry.problems]
    problems = [*problems, *refused, *more, *copies, *of_entries]
    bad = tuple(each for each in problems if each.level == "refused" or each.code in chosen.exit_status)
    present = {entry.task for entry in kept}
    shown = {task: each for task, each in references_of.items() if task in present}
    return Leaderboard(tuple(kept), shown, tuple(problems), bad, trust.in_public)


def _not_allowed(
    entry: LeaderboardEntry, roots: Sequence[Path], trust: TrustRules, rules: BoardRules
) -> EntryProblem | None:
    """The problem of an entry whose submitter does not own its model's name, or whose task the board does not have.

    A stranger's task would otherwise make a benchmark of any name.
    """
    if trust.owners is None:
        return None
    if not registry.is_here(entry.task):
        text = f"{entry.task} is not here. The board's keepers take a contributed benchmark into task_configs, or give "
        return checks.make_entry_problem(rules, entry, "unknown_task", f"{text}its folder with --include_path.")
    mistake = trust.owners.problem(entry.model.name, account_of(entry.source.results, roots))
    return checks.make_entry_problem(rules, entry, *mistake) if mistake else None


def task_names(path: Path) -> list[str]:
    """The tasks of all runs and packs that ``path`` is or holds, printable and sorted; broken files have none."""
    names: set[str] = set()
    for file in _list_entry_files(path)[0]:
        # `collect_entries` reports broken files.
        with suppress(UserError):
            if file.name.endswith(results.SUFFIX):
                names |= set(result_file(file).content.get("configs") or {})
            else:
                names |= {entry.task for entry in packs.read_submission(file)}
    return sorted(map(make_printable, names))


def _mark_ranked_entries(
    entries: Sequence[LeaderboardEntry], rules: BoardRules, trust: TrustRules, by_measure: bool
) -> tuple[list[LeaderboardEntry], list[EntryProblem], dict[str, TaskReference]]:
    """The entries with their problems beside each other, the problems of those left out, and the references.

    The ranking uses the first pinned version for which at least one entry qualifies. A version without a ranked entry
    does not displace one that has.
    """
    without: frozenset[Key] = frozenset()
    while True:
        rankable = [entry for entry in entries if entry.ranked]
        found = references.task_references(entries, rules, trust, without)
        found |= references.task_references(rankable, rules, trust, without)
        beside = [
            _with_found_problems(checks.problems_beside, entry, rules, found[entry.task], trust) for entry in entries
        ]
        kept, refused = _split_refused(beside)
        kept = side_by_side.mark_conflicting(kept, rules, trust)
        if by_measure:
            kept = side_by_side.by_measure(kept, rules, trust)
        tried = _without_rank(kept, found, trust) - without
        if not tried:
            kept, copies = side_by_side.without_unjudged(kept, rules)
            return kept, [*refused, *copies], found
        without |= tried


def _with_found_problems(
    find: Callable[..., Sequence[EntryProblem]], entry: LeaderboardEntry, rules: BoardRules, *more: object
) -> LeaderboardEntry:
    """The entry with the problems that ``find`` gives; an entry that can't be checked is refused, the others stay."""
    try:
        return entry.with_problems(find(entry, rules, *more))
    except packs.UNCOMPUTABLE as error:
        code = "bad_pack" if entry.source.kind == "pack" else "broken_log"
        reason = f"It can't be checked ({error!r:.200})."
        return entry.with_problems([checks.make_entry_problem(rules, entry, code, reason)])


def _without_rank(
    entries: Sequence[LeaderboardEntry], found: Mapping[str, TaskReference], trust: TrustRules
) -> set[Key]:
    """Pins whose ranking would be empty although entries for another pin of the task exist."""
    ranked = {entry.task for entry in entries if entry.ranked}
    tried = set()
    for task in {entry.task for entry in entries} - ranked:
        held = {pin_key(each) for each in entries if each.task == task and trust.pins.hold(each)}
        reference = found[task]
        data = f"{reference.data}, {reference.settings}" if reference.settings else reference.data
        tried |= {(task, reference.version, data)} if len(held) > 1 else set()
    return tried


def _split_refused(entries: Sequence[LeaderboardEntry]) -> tuple[list[LeaderboardEntry], list[EntryProblem]]:
    refused = [problem for entry in entries for problem in entry.problems if problem.level == "refused"]
    return [entry for entry in entries if all(problem.level != "refused" for problem in entry.problems)], refused


def _list_read_jobs(
    paths: Iterable[Path], rules: BoardRules, tasks: Sequence[str]
) -> tuple[list[ReadJob], list[EntryProblem]]:
    jobs: dict[tuple[Path, str], ReadJob] = {}
    problems: list[EntryProblem] = []
    for path in paths:
        if not path.exists():
            hint = nearest_path(path)
            raise UserError(f"{path} is not there.{hint} Give folders with runs or submissions, or their files.")
        files, unread = _list_entry_files(path)
        problems += [rules.problem("unreadable", reason, file) for file, reason in unread]
        # Links last: a link must not replace the file itself, which may be in another account's folder.
        for file in sorted(files, key=Path.is_symlink):
            for each in _of_file(file, rules, tasks):
                if isinstance(each, EntryProblem):
                    problems.append(each)
                else:
                    jobs.setdefault((file.resolve(), each.task), each)
    return list(jobs.values()), problems


def result_files(path: Path) -> list[Path]:
    """The result files that ``path`` is or holds; links out of it are left out."""
    return [file for file in _list_entry_files(path)[0] if file.name.endswith(results.SUFFIX)]


def _list_entry_files(path: Path) -> tuple[list[Path], list[tuple[Path, str]]]:
    """The result files and packs that ``path`` is or holds, and files that may not be read, each with the reason."""
    if not path.is_dir():
        return [path], []
    files, unread = safe_files.list_regular_files(path, packs.ENDINGS)
    return [file for file in files if file.name.endswith(results.SUFFIX) or packs.is_pack(file)], unread


def result_file(file: Path) -> ResultFile:
    """Read a result file once it is known to be within the limits. Raises UserError if it is damaged."""
    safe_files.check_regular_file(file)
    safe_files.check_form(safe_files.content_of(file), file)
    return results.read_result_file(file)


def _of_file(file: Path, rules: BoardRules, tasks: Sequence[str]) -> Iterator[ReadJob | EntryProblem]:
    if not file.name.endswith(results.SUFFIX):
        yield ReadJob(file)
        return
    try:
        run = result_file(file)
    except UserError as error:
        yield rules.problem("unreadable", str(error), file)
        return
    configs = run.content.get("configs") or {}
    # A board ranks tasks as they are, not on degraded pictures.
    plain = [task for task in configs if find_base_task(task, configs[task]) is None]
    named = [task for task in plain if not tasks or task in tasks]
    if configs and not plain:
        said = f"{file} has tasks on degraded images only, and boards rank tasks as they are."
        yield rules.problem("unknown_task", said, file)
    elif not named and not tasks:
        yield rules.problem("unreadable", f"{file} has no task.", file)
    for task in named:
        yield _of_task(run, task, rules)


def _of_task(run: ResultFile, task: str, rules: BoardRules) -> ReadJob | EntryProblem:
    shown, config = make_printable(task), run.content["configs"][task]

    def problem(code: str, said: str) -> EntryProblem:
        return rules.problem(code, said, run.path, shown, model_name(run.content))

    if installed.find_installed_task(task) is None and not installed.is_contributed(config):
        said = f"{shown} is none of the tasks that are installed here, and was not made from one of our templates."
        return problem("unknown_task", said)
    try:
        if installed.task_declaration(task, installed.recorded_declaration(config)) is None:
            return problem("unknown_task", f"{shown} is not known here, so its log can't be read. {installed.ADVICE}")
        if task not in run.tasks:
            return problem("no_result", f"The run stopped before {task} had a result.")
        log = log_of(run, task)
        if not log.is_file():
            said = f"No sample log of {shown} ({make_printable(log.name)}). Run with --log_samples."
            return problem("no_samples", said)
        safe_files.check_regular_file(log, run.path.parent)
    except UserError as error:  # also of a contributed folder that can't be imported
        return problem("unreadable", str(error))
    return ReadJob(run.path, run, task)


def log_of(run: ResultFile, task: str) -> Path:
    """The log of a task. Raises UserError if the task's name can't be part of a file name."""
    longest = 255  # bytes of a file's name, on all common file systems
    name = f"{run.path.name.removesuffix(results.SUFFIX)}_samples_{task}.jsonl"
    if "/" in name or "\0" in name or len(name.encode("utf-8", "replace")) > longest:
        raise UserError(f"{run.path}: the task {task[:60]!r} can have no log: no file can be called so.")
    return run.samples_file(task)


def _read_jobs(
    jobs: Sequence[ReadJob], rules: BoardRules, processes: int, cache: BuildCache
) -> Iterator[EntryProblem | list[LeaderboardEntry]]:
    count = min(processes, len(jobs)) if _is_much(jobs, cache) else 1
    # Largest first, so that no process is left alone with a large one at the end.
    ordered = sorted(jobs, key=lambda job: -job.size)
    read = functools.partial(read_job, rules=rules, given=registry.added_suite_folders(), cache=cache)
    with _make_executor(count) as executor, progress_bar(len(jobs), "Reading logs", "log") as step:
        for found in executor.map(read, ordered) if executor else map(read, ordered):
            step(1)
            yield found


def _is_much(jobs: Sequence[ReadJob], cache: BuildCache) -> bool:
    sizes = (job.size // (_KEPT if _is_kept(job, cache) else 1) for job in jobs)
    # Stops early: to know whether a log is cached takes reading it.
    return any(much > _SMALL for much in itertools.accumulate(sizes))


def _is_kept(job: ReadJob, cache: BuildCache) -> bool:
    # Reading the log reports its faults.
    with suppress(UserError, *packs.UNCOMPUTABLE):
        return job.run is not None and is_kept(job.run, job.task, cache)
    return False


def _make_executor(count: int) -> Any:
    # Not forked: a process of numpy, scipy and a progress bar has threads.
    return ProcessPoolExecutor(count, get_context("spawn")) if count > 1 else nullcontext(None)


def read_job(
    job: ReadJob, rules: BoardRules, given: Sequence[Path] = (), cache: BuildCache = NO_CACHE
) -> EntryProblem | list[LeaderboardEntry]:
    """Read a log or a pack; a problem if it has no entry. ``given``: folders of benchmarks that are not installed."""
    registry.add_suite_folders(given)
    if job.run is None:
        try:
            return packs.read_submission(job.path)
        except UserError as error:
            return rules.problem("bad_pack", str(error), job.path)
    log = job.run.samples_file(job.task)
    try:
        # A log is known by its digest, and was checked before anything of it was kept.
        if not _is_kept(job, cache):
            safe_files.check_lines(log)
        entry = entry_of(job.run, job.task, cache)
        limits.check_entry(entry, f"{job.path}, {job.task}")
        return [entry]
    except UserError as error:
        said = str(error)
    except packs.UNCOMPUTABLE as error:
        said = f"{log}: what it holds can't be computed with ({error!r})."
    return rules.problem("broken_log", said, job.path, job.task, model_name(job.run.content))
