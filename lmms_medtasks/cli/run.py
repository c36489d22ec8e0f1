"""``lmms-medtasks run``: the harness, with an exit status that can be trusted."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from lmms_medtasks.cli import estimate as estimating
from lmms_medtasks.cli.estimate import QUESTIONS
from lmms_medtasks.cli.options import JudgePrompts
from lmms_medtasks.cli.run_arguments import check_known, check_prompts, checked_tasks, find_option_value
from lmms_medtasks.cli.run_end import ENDING, end_run
from lmms_medtasks.data import release_counts, subsets
from lmms_medtasks.data.subsets import DataSubset
from lmms_medtasks.errors import UserError
from lmms_medtasks.judges import settings as judge_settings
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.degraded import is_degraded_name
from lmms_medtasks.samples.runs import new_folder
from lmms_medtasks.writing import check_folder

_MORE_HELP = """
Options that are not listed here go to lmms-eval unchanged (`lmms-eval --help` lists them). Unless you set them,
--output_path is a new folder in runs/, file names hold the time in UTC (--timezone), and samples are logged.

The command exits with 1 where an evaluation failed, where the result of a requested task is missing or incomplete, and
where two requests of a task and more than 1% failed (the board's own threshold), unless --allow-failures is given. It
exits with 2 if you can mend why. lmms-eval exits with 0 in all these cases.

Results of --subset, --settings, --prompt and --judge-prompt say so in their name, and are never ranked with others.
"""
COMMAND: dict[str, Any] = {
    "context_settings": {
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": ["--help"],
    },
    "epilog": _MORE_HELP,
}
"""How the command is added to the application."""

_ASKING, _DEGRADED, _ESTIMATE = "How it is asked", "Degraded images", "What the full run would take"
"""Headings of the options."""

_GROUP_GUARD = 'read -r _; kill -s TERM -- "-$0"; kill -s CONT -- "-$0"'
"""For a shell that waits for the end of its input, and ends a group of processes then."""


def run(
    context: typer.Context,
    model_name: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="What answers: a built-in model, or a runner of lmms-eval (`lmms-eval models` lists all).",
        ),
    ] = None,
    task_names: Annotated[
        str | None,
        typer.Option(
            "--tasks",
            metavar="NAME,NAME",
            help="Tasks and groups, with commas between them (`lmms-medtasks tasks` lists ours).",
        ),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(metavar="N", help="Ask the first questions of each task only, to try out: a number, or a share."),
    ] = None,
    model_args: Annotated[
        str | None,
        typer.Option("--model_args", metavar="NAME=VALUE,…", help="Its arguments, as in pretrained=CHECKPOINT."),
    ] = None,
    processes: Annotated[int, typer.Option(help="Processes to spread the questions over, one GPU each.", min=1)] = 1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ask everything again, also what an interrupted run has answered.")
    ] = False,
    allow_failures: Annotated[
        bool, typer.Option("--allow-failures", help="Exit with 0 also where too many requests failed.")
    ] = False,
    all_metrics: Annotated[
        bool,
        typer.Option("--all-metrics", help="Print lmms-eval's table of all metrics too, before the report's screen."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print all that lmms-eval logs, and its bars for each task.")
    ] = False,
    settings: Annotated[
        str,
        typer.Option(
            help="Settings by which tasks are asked and scored: ours; paper: the paper's where they differ, as each "
            "benchmark's card says; thinking: replies of up to 4,096 new tokens, where the paper names no limit and "
            "the model or its server has the room.",
            rich_help_panel=_ASKING,
        ),
    ] = "",
    prompt: Annotated[
        list[str] | None,
        typer.Option(
            help="A file in place of our prompt: FILE, or TASK=FILE (a pattern too); may be given again.",
            rich_help_panel=_ASKING,
        ),
    ] = None,
    judge_prompt: JudgePrompts = None,
    subset: Annotated[
        int | None,
        typer.Option(
            help="Ask all questions about this many images (or items) of each task, drawn alike for every model. Each "
            "group of the paper's tables has its share.",
            rich_help_panel=_ASKING,
        ),
    ] = None,
    subset_seed: Annotated[int, typer.Option(help="Another seed draws another subset.", rich_help_panel=_ASKING)] = 0,
    accept_counts: Annotated[
        bool,
        typer.Option(
            "--accept-counts",
            help="Call data from the hub full, however many questions there are.",
            rich_help_panel=_ASKING,
        ),
    ] = False,
    degrade: Annotated[
        str | None,
        typer.Option(
            help="Ask each task with degraded images too, as TASK@gaussian_noise.2 in --tasks does: "
            "gaussian_noise:2,motion_blur:1, all:1,2, draw3:1,2, corruptions, my.module:function, or as a benchmark "
            "degrades: its name.",
            metavar="NAME:LEVELS",
            rich_help_panel=_DEGRADED,
        ),
    ] = None,
    modality: Annotated[
        str | None,
        typer.Option(help="What the images are, or column:NAME of the column that says it.", rich_help_panel=_DEGRADED),
    ] = None,
    degrade_seed: Annotated[int, typer.Option(help="Another seed draws other damage.", rich_help_panel=_DEGRADED)] = 0,
    degrade_control: Annotated[
        bool,
        typer.Option(
            "--degrade-control", help="Ask the untouched images a second time too.", rich_help_panel=_DEGRADED
        ),
    ] = False,
    degrade_lengths: Annotated[
        str,
        typer.Option(
            help="Lengths in pixels (blurs, low resolution) are the paper's numbers on images of any size (pixels), "
            "or the same share of each image (share).",
            rich_help_panel=_DEGRADED,
        ),
    ] = "pixels",
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Ask a few questions of each task, throw the results away, and print what all would take: requests, "
            "images, tokens, time and, with prices, cost.",
            rich_help_panel=_ESTIMATE,
        ),
    ] = False,
    estimate_questions: Annotated[
        int, typer.Option(help="Questions of each task to ask.", min=1, rich_help_panel=_ESTIMATE)
    ] = QUESTIONS,
    price_in: Annotated[
        float | None, typer.Option(help="Price of a million tokens read.", rich_help_panel=_ESTIMATE)
    ] = None,
    price_out: Annotated[
        float | None, typer.Option(help="Price of a million tokens written.", rich_help_panel=_ESTIMATE)
    ] = None,
) -> None:
    """Ask a model the questions of tasks, and score its replies.

    Example: `lmms-medtasks run --model medtasks_observer --tasks TASK --limit 20` (`lmms-medtasks tasks` lists tasks)

    An interrupted run goes on where it stopped when the same command is given again.
    """
    if importlib.util.find_spec("lmms_eval") is None:
        raise UserError("lmms-eval is not installed in this environment. Install it: pip install lmms-eval.")
    from lmms_medtasks.harness import ending, journal, stamps

    ending.outlive_closed_output(is_quiet=True)
    named = {"--model": model_name, "--tasks": task_names, "--limit": limit, "--model_args": model_args}
    arguments = [text for name, value in named.items() if value is not None for text in (name, value)] + context.args
    check_known(arguments, [name for param in context.command.params for name in param.opts])
    tasks = checked_tasks(arguments)
    tasks = _add_degraded_tasks(arguments, tasks, degrade, (modality, degrade_seed, degrade_control, degrade_lengths))
    arguments += _task_beside_folder(tasks)
    prices = (price_in, price_out)
    variables = _subset_variables(arguments, subset, subset_seed)
    variables |= _setting_variables(settings, prompt or [], judge_prompt or [])
    if degrade is not None:
        from lmms_medtasks.degradations import modality_files

        variables |= modality_files.modality_variables()
    check_prompts(tasks, {**os.environ, **variables})
    estimated = estimating.estimate_file(arguments, processes, variables)
    judge_settings.parse_judge_name(os.environ.get("MEDTASKS_JUDGE", ""))
    variables |= {journal.VARIABLE: journal.FRESH} if fresh else {}
    variables |= {release_counts.VARIABLE: "1"} if accept_counts else {}
    variables[ending.ALLOW_FAILURES] = "1"  # this command reports them itself, at the end
    variables[ending.TABLES] = ending.NO_ROWS if estimate else ending.ALL_ROWS if all_metrics else ending.FOLDED
    if estimate:
        if subset is not None:
            raise UserError("--subset does not go with --estimate, which says what all questions would take.")
        _estimate_run(arguments, processes, estimate_questions, prices, variables, verbose, estimated)
        return
    if prices != (None, None):
        raise UserError("--price-in and --price-out are for --estimate.")
    if estimated.is_file():
        variables[stamps.ESTIMATED] = estimated.read_text("utf-8")
    output = _output_folder(arguments)
    before = results.list_result_files(output)
    with tempfile.TemporaryDirectory(prefix="lmms-medtasks-run-") as name:
        written_list = Path(name) / "written"
        variables |= _log_variables(Path(name), processes, verbose)
        status = _run_to_end(_harness_command(arguments, processes), {**variables, stamps.WRITTEN: str(written_list)})
        # Another run may write into the folder at the same time.
        written_names = written_list.read_text("utf-8").splitlines() if written_list.is_file() else []
    written = list(map(Path, written_names)) or sorted(results.list_result_files(output) - before)
    end_run(status, written, output, tasks, arguments, allow_failures=allow_failures)


def _task_beside_folder(tasks: list[str]) -> list[str]:
    """Arguments that keep lmms-eval from running each YAML of a folder that is called like the only task."""
    # It looks for a folder only where --tasks is one name; a path asks for the folder.
    name = tasks[0] if len(tasks) == 1 and Path(tasks[0]).name == tasks[0] else ""
    return ["--tasks", f"{name},{name}"] if name and Path(name, f"{name}.yaml").is_file() else []


def _add_degraded_tasks(
    arguments: list[str], tasks: list[str], degrade: str | None, options: tuple[str | None, int, bool, str]
) -> list[str]:
    """The tasks with those that --degrade adds; they are added to --tasks in ``arguments`` too."""
    if degrade is None:
        if options != (None, 0, False, "pixels"):
            raise UserError(
                "--modality, --degrade-seed, --degrade-control and --degrade-lengths are for --degrade: say what is to "
                "be done."
            )
        return tasks
    from lmms_medtasks.degradations import modality_files
    from lmms_medtasks.harness import degraded_names

    included = find_option_value(arguments, "--include_path")
    modality_files.load_run_modalities([Path(included)] if included else [])
    if not tasks:
        raise UserError("--degrade adds to --tasks; name them there, not in the file of --config.")
    twice = [task for task in tasks if is_degraded_name(task)]
    if twice:
        raise UserError(f"--degrade: {twice[0]} is degraded already. Name the clean tasks in --tasks.")
    every = [*tasks, *degraded_names.degraded_names(tasks, degrade, *options)]
    if beyond := degraded_names.describe_beyond_paper(degrade, options[0]):
        typer.echo(f"lmms-medtasks: {beyond}", err=True)
    if any("object_rotation" in task for task in every):
        typer.echo(f"lmms-medtasks: {degraded_names.ROTATION}", err=True)
    # The last one counts.
    arguments += ["--tasks", ",".join(every)]
    return every


def _subset_variables(arguments: list[str], size: int | None, seed: int) -> dict[str, str]:
    """The variable that tells the run's processes of a subset; {} without one."""
    if size is None:
        if seed:
            raise UserError("--subset-seed chooses among subsets: give --subset too.")
        return {}
    chosen = DataSubset(size, seed)
    if find_option_value(arguments, "--limit") is not None:
        raise UserError("--limit takes the first questions, --subset a sample of all of them: give one of both.")
    return {subsets.VARIABLE: str(chosen)}


def _setting_variables(settings: str, prompts: list[str], judge_prompts: list[str]) -> dict[str, str]:
    """The variables that tell the run's processes of settings and prompts; {} without any."""
    from lmms_medtasks.harness import chosen_settings
    from lmms_medtasks.suites import paper

    given = {
        paper.VARIABLE: paper.checked_settings_name(settings) if settings else "",
        chosen_settings.PROMPT: chosen_settings.format_prompt_files(prompts),
        chosen_settings.JUDGE_PROMPT: chosen_settings.format_prompt_files(judge_prompts),
    }
    return {name: value for name, value in given.items() if value}


def _estimate_run(
    arguments: list[str],
    processes: int,
    question_count: int,
    prices: tuple[float | None, float | None],
    variables: Mapping[str, str],
    verbose: bool,
    kept: Path,
) -> None:
    """Ask the first questions of each task in a temporary folder, and print what all questions would take.

    ``kept``: the file for the sentence that the same command will say.
    """
    from lmms_medtasks.harness import stamps

    estimating.check_prices(prices)
    for name in ("--limit", "--config", "--use_cache"):
        if find_option_value(arguments, name) is not None:
            raise UserError(f"{name} does not go with --estimate, which asks some questions of each task itself.")
    # It is not asked, and so needs no key.
    judge = judge_settings.read_judge_settings({**os.environ, "OPENAI_API_KEY": "none"})
    # Each of several processes asks as many.
    limit = ["--limit", str(question_count * processes), "--log_samples"]
    with tempfile.TemporaryDirectory(prefix="lmms-medtasks-estimate-") as name:
        folder = Path(name)
        times = folder / "call_times.json"
        # An interrupted run's replies are neither taken nor thrown away.
        variables = {**variables, **_log_variables(folder, processes, verbose)}
        # The replies are thrown away: no judge is paid for them.
        unpaid = {"MEDTASKS_JOURNAL": "off", "MEDTASKS_JUDGE": ""}
        estimate_variables = {**variables, stamps.CALL_TIMES: str(times), **unpaid}
        started = time.perf_counter()
        # The last --output_path counts.
        command = _harness_command([*arguments, *limit, "--output_path", str(folder)], processes)
        status = _run_to_end(command, estimate_variables)
        wall = time.perf_counter() - started
        runs = [results.read_result_file(path) for path in sorted(results.list_result_files(folder))]
        if status or not runs:
            typer.echo("lmms-medtasks: The evaluation failed, so there is nothing to estimate from.", err=True)
            raise typer.Exit(status or 1)
        read = estimating.read_times(times)
        overhead = max(0.0, wall - sum(timed["seconds"] for timed in read.values()))
        task_estimates = estimating.estimate_tasks(runs, read, processes)
        lines = estimating.estimate_lines(task_estimates, prices, overhead, question_count * processes)
        included = find_option_value(arguments, "--include_path")
        for line in [*lines, *estimating.judge_lines(runs, judge, Path(included) if included else None)]:
            typer.echo(line)
        estimating.keep_estimate(kept, task_estimates, prices)


def _log_variables(folder: Path, processes: int, verbose: bool) -> dict[str, str]:
    """The variables by which the run's processes print little, and know of each other's warnings by a subfolder."""
    from lmms_medtasks.harness import run_log
    from lmms_medtasks.progress import RUN_LOG

    typer.echo(f"{time.strftime('%H:%M:%S')} Loading lmms-eval, which takes 10 s or more", err=True)
    (folder / "printed").mkdir()
    variables = {RUN_LOG: str(folder / "printed"), run_log.VERBOSE: str(int(verbose))}
    others = {"OMP_NUM_THREADS": "1"} if processes > 1 else {}  # torchrun sets it too, and says so in four lines
    if not sys.stderr.isatty():  # bars of other libraries: a line now and then
        others |= {"TQDM_MININTERVAL": "30", "TQDM_MAXINTERVAL": "30"}
    return variables | {name: value for name, value in others.items() if name not in os.environ}


def _run_to_end(command: list[str], variables: Mapping[str, str]) -> int:
    """The exit status of ``command``; minus the number of a signal that ended it.

    All that it starts is a session of its own, which gets each signal once, from here. A shell ends the session when
    this process is killed, because the pipe that the shell reads is closed then.
    """
    environment = {**os.environ, **variables, **_installed_first(Path.cwd())}
    started: list[int] = []
    received: list[int] = []
    received_early: list[int] = []

    def pass_signal_on(number: int, frame: object) -> None:
        received.extend([number] if number in ENDING else [])
        received_early.extend([] if started else [number])
        for group in started:
            with suppress(ProcessLookupError):
                os.killpg(group, number)

    def pause_all(number: int, frame: object) -> None:
        pass_signal_on(signal.SIGSTOP, frame)
        os.kill(os.getpid(), signal.SIGSTOP)
        pass_signal_on(signal.SIGCONT, frame)

    handlers = {**dict.fromkeys(ENDING, pass_signal_on), signal.SIGTSTP: pause_all}
    # What is ignored stays so: nohup ignores SIGHUP.
    before = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        with subprocess.Popen(command, env=environment, start_new_session=True) as process:
            started.append(process.pid)
            # Signals that arrived before the command was started.
            for number in [each for each in received_early if each in ENDING]:
                pass_signal_on(number, None)
            watch = ["sh", "-c", _GROUP_GUARD, str(process.pid)]
            with subprocess.Popen(watch, stdin=subprocess.PIPE, start_new_session=True) as watching:
                status = process.wait()
                watching.kill()
            return -received[0] if received and status else status
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _installed_first(folder: Path) -> dict[str, str]:
    """Variables by which ``python -m`` in ``folder`` imports the installed package, and not a copy of its source there.

    The task_configs and judges of a copy lie beside it. Returns {} for an editable installation of the copy.
    """
    copy, installed = folder / "lmms_medtasks", Path(__file__).parents[1]
    if not (copy / "__init__.py").is_file() or copy.samefile(installed):
        return {}
    if sys.version_info < (3, 11):  # the variable is new in 3.11
        raise UserError(
            f"{folder} has a copy of lmms_medtasks, which Python 3.10 would take for the installed one ({installed}). "
            "Run from another folder, or install the copy: pip install -e ."
        )
    return {"PYTHONSAFEPATH": "1"}


def _harness_command(arguments: list[str], processes: int) -> list[str]:
    launcher = [sys.executable]
    if processes > 1:
        # Not `accelerate launch --cpu --num_processes N`: it starts a single process and says nothing.
        launcher += ["-m", "torch.distributed.run", "--standalone", f"--nproc_per_node={processes}"]
    return [*launcher, "-m", "lmms_eval", *arguments]


def _output_folder(arguments: list[str]) -> Path:
    """Where results go; adds --output_path, --timezone and --log_samples to the arguments where they are missing."""
    given = find_option_value(arguments, "--output_path")
    if given is None:
        given = str(new_folder())
        arguments += ["--output_path", given]
    if find_option_value(arguments, "--timezone") is None:
        # The folder above is named in UTC; the harness would name its files in the time of Singapore.
        arguments += ["--timezone", "UTC"]
    if "--log_samples" not in arguments:
        arguments.append("--log_samples")
    # Else it is noticed when all is asked.
    check_folder(Path(given))
    return Path(given)
