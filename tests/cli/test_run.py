"""`lmms-medtasks run`: what is passed on, and when it fails."""

import json
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli import run as command
from lmms_medtasks.cli import run_arguments
from lmms_medtasks.cli.app import build_app
from lmms_medtasks.errors import UserError

ASKED = ["run", "--model", "m", "--tasks", "gqa"]


@pytest.fixture
def harness(monkeypatch, tmp_path):
    """A stand-in for the harness that writes the results it is told to; gives the commands it got."""
    monkeypatch.chdir(tmp_path)
    state = SimpleNamespace(commands=[], results={"gqa": {"accuracy,none": 0.5}}, status=0, more={})

    def stand_in(arguments, env=None, **given):
        if env is None:  # the shell that watches
            return nullcontext(SimpleNamespace(kill=lambda: None))
        state.commands.append(arguments)
        state.environment = env
        folder = command.Path(run_arguments.find_option_value(arguments, "--output_path")) / "model"
        if state.results is not None:
            folder.mkdir(parents=True, exist_ok=True)
            content = {"results": state.results, "group_subtasks": {}, **state.more}
            (folder / f"{len(state.commands)}_results.json").write_text(json.dumps(content))
        return nullcontext(SimpleNamespace(pid=0, wait=lambda: state.status))

    monkeypatch.setattr(command.subprocess, "Popen", stand_in)
    return state


def call(*arguments):
    return CliRunner().invoke(build_app(), list(arguments))


def test_passes_arguments_on_and_logs_samples(harness):
    assert call(*ASKED, "--limit", "5", "--model_args", "a=1,b=2", "-x").exit_code == 0
    given = harness.commands[0]
    assert given[:3] == [sys.executable, "-m", "lmms_eval"]
    assert given[3:10] == ["--model", "m", "--tasks", "gqa", "--limit", "5", "--model_args"]
    assert given[10:12] == ["a=1,b=2", "-x"]
    assert given[-1] == "--log_samples"


def test_folder_and_files_are_named_by_one_clock(harness):
    """The folder is named in UTC; the harness names its files in the time of Singapore unless told."""
    call(*ASKED), call(*ASKED, "--timezone", "Europe/Berlin")
    zones = [
        [zone for name, zone in zip(given, given[1:], strict=False) if name == "--timezone"]
        for given in harness.commands
    ]
    assert zones == [["UTC"], ["Europe/Berlin"]]


def test_counts_are_accepted_by_a_variable(harness, monkeypatch):
    monkeypatch.delenv("MEDTASKS_ACCEPT_COUNTS", raising=False)
    assert call(*ASKED).exit_code == 0 and "MEDTASKS_ACCEPT_COUNTS" not in harness.environment
    assert call(*ASKED, "--accept-counts").exit_code == 0
    assert harness.environment["MEDTASKS_ACCEPT_COUNTS"] == "1" and "--accept-counts" not in harness.commands[1]


def test_fresh_asks_all_anew(harness, monkeypatch):
    monkeypatch.delenv("MEDTASKS_JOURNAL", raising=False)
    assert call(*ASKED).exit_code == 0 and "MEDTASKS_JOURNAL" not in harness.environment
    assert call(*ASKED, "--fresh", "-x").exit_code == 0
    assert harness.environment["MEDTASKS_JOURNAL"] == "fresh"
    assert "--fresh" not in harness.commands[1] and "-x" in harness.commands[1]


@pytest.mark.parametrize(
    ("model", "tasks", "said"),
    [
        (
            "m",
            "gqa,medq_deg_lvels",
            "Unknown task 'medq_deg_lvels' in --tasks. Did you mean 'medq_deg_levels'?",
        ),
        ("m", "medobvios", "Unknown task 'medobvios' in --tasks. Did you mean 'medobvious'?"),
        ("m", "medq_deg_l2,surevqa", "Unknown task 'surevqa' in --tasks. Did you mean 'sure_vqa'?"),
        ("medtasks_randm", "medq_deg_l2", "Unknown model 'medtasks_randm' in --model. Did you mean 'medtasks_random'?"),
    ],
)
def test_names_that_are_nearly_ours_end_before_the_harness_starts(harness, model, tasks, said):
    done = call("run", "--model", model, "--tasks", tasks)
    assert isinstance(done.exception, UserError) and said in str(done.exception)
    assert harness.commands == []


@pytest.mark.parametrize("more", [["--tasks", "medq_deg_l*"], ["--tasks", "med_cmr_own", "--include_path", "here"]])
def test_patterns_and_tasks_of_other_folders_are_the_harnesss_to_check(harness, more, tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "own.yaml").write_text("group: own\ntask:\n  - med_cmr_own\n", "utf-8")
    harness.results = {"medq_deg_l2": {"accuracy,none": 0.5}, "med_cmr_own": {"accuracy,none": 0.5}}
    call("run", "--model", "m", *more)
    assert len(harness.commands) == 1


def test_says_where_results_went(harness):
    done = call(*ASKED, "--output_path=out")
    assert "Results: out/model/1_results.json" in done.output
    assert harness.commands[0].count("--output_path") == 0


def test_two_runs_get_folders_of_their_own(harness):
    call(*ASKED)
    call(*ASKED)
    folders = [given[given.index("--output_path") + 1] for given in harness.commands]
    assert len(set(folders)) == 2


def test_several_processes_use_the_launcher_that_really_starts_them(harness):
    call(*ASKED, "--processes", "2")
    given = harness.commands[0]
    assert given[1:5] == ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2"]
    assert "--processes" not in given


def test_a_working_copy_in_the_folder_is_not_taken_for_the_installed_package(harness, tmp_path, monkeypatch):
    """``python -m lmms_eval`` puts the working folder first, and the copy there lacks task_configs."""
    assert call(*ASKED).exit_code == 0 and "PYTHONSAFEPATH" not in harness.environment
    (tmp_path / "lmms_medtasks").mkdir()
    (tmp_path / "lmms_medtasks" / "__init__.py").touch()
    monkeypatch.setattr(command.sys, "version_info", (3, 11, 0))
    assert call(*ASKED).exit_code == 0 and harness.environment["PYTHONSAFEPATH"] == "1"
    assert command._installed_first(Path(command.__file__).parents[2]) == {}  # editable
    monkeypatch.setattr(command.sys, "version_info", (3, 10, 9))
    with pytest.raises(UserError, match="another folder"):
        command._installed_first(tmp_path)


def test_no_result_file_is_a_failure(harness):
    harness.results = None
    done = call(*ASKED)
    assert done.exit_code == 1
    assert "The evaluation failed: no result file" in done.output


@pytest.mark.parametrize(("status", "told_here"), [(0, True), (1, False), (2, False), (3, True)])
def test_a_failure_is_told_here_only_where_the_harness_did_not_tell_it(harness, status, told_here):
    """Ended by its own message, traceback or usage error, the harness has said why; with another status, not."""
    harness.results, harness.status = None, status
    done = call(*ASKED)
    assert done.exit_code == (status or 1)
    assert ("no result file" in done.output) == told_here


@pytest.mark.parametrize(
    ("number", "said"), [(2, "Interrupted."), (15, "Interrupted."), (9, "SIGKILL"), (11, "SIGSEGV")]
)
def test_a_run_that_was_ended_is_no_failed_one_and_can_go_on(harness, number, said):
    """It ends with the status that shells give it, and with one line: what ended it, and the way on."""
    harness.results, harness.status = None, -number
    done = call(*ASKED)
    assert done.exit_code == 128 + number
    assert done.output.count("lmms-medtasks: ") == 1 and said in done.output
    assert "same command again" in done.output and "failed" not in done.output


def test_missing_task_is_a_failure(harness):
    done = call("run", "--model", "m", "--tasks", "gqa,pope")
    assert done.exit_code == 1
    assert "No result of task 'pope'." in done.output


def test_tasks_may_stand_in_a_configuration_file(harness):
    assert call("run", "--config", "c.yaml").exit_code == 0
    harness.results = None
    assert call("run", "--config", "c.yaml").exit_code == 1


def test_old_results_do_not_count(harness):
    assert call(*ASKED, "--output_path", "out").exit_code == 0
    harness.results = None
    assert call(*ASKED, "--output_path", "out").exit_code == 1


def test_the_harness_own_status_is_kept(harness):
    harness.status = 3
    assert call(*ASKED).exit_code == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run"], "Name a model and tasks"),
        (["run", "--model", "m"], "Name a model and tasks"),
        ([*ASKED, "--limit", "0"], "--limit 0 asks for no question"),
        ([*ASKED, "--limit=0.0"], "--limit 0.0 asks for no question"),
        ([*ASKED, "--limit", "1.5"], "--limit 1.5 is neither a whole number"),
        (["run", "--model", "m", "--tasks", "medq_deg_l2", "--num_fewshot=3"], "--num_fewshot 3: medq_deg_l2"),
        (["run", "--model", "medtasks_random", "--tasks", "gqa", "--num_fewshot", "3"], "baseline medtasks_random"),
        (["run", "--model", "medtasks_server", "--tasks", "gqa", "--apply_chat_template"], "--apply_chat_template"),
        ([*ASKED, "--ouput_path=out"], "Unknown option '--ouput_path'. Did you mean '--output_path'?"),
        ([*ASKED, "--degrad", "all:1"], "Unknown option '--degrad'. Did you mean '--degrade'?"),
        ([*ASKED, "-o", "out"], "Unknown option '-o'."),
        ([*ASKED, "--gen_kwargs", "foo"], "--gen_kwargs must be NAME=VALUE,NAME=VALUE, got 'foo'. Write as in"),
        ([*ASKED, "--model_args", "a={'b': [1, 2]},c"], "--model_args must be NAME=VALUE,NAME=VALUE"),
        ([*ASKED, "--reasoning_tags", "<think>"], "--reasoning_tags '<think>' is no JSON"),
    ],
)
def test_mistakes_are_told_before_anything_runs(harness, arguments, message):
    done = call(*arguments)
    assert isinstance(done.exception, UserError)
    assert message in str(done.exception)
    assert not harness.commands


@pytest.mark.parametrize("more", [
    ["-b4"], ["--verbos", "DEBUG"], ["--gen_kwargs", "-a = [1,2]"], ["--model_args", "-a = b"], [],
    ["--gen_kwargs", """until=["]",","],b="say \\"a, b\\" now" """],
])  # fmt: skip
def test_options_of_the_harness_are_its_own_to_read(harness, more):
    assert call(*ASKED, *more).exit_code == 0
    assert set(more) <= set(harness.commands[0])


@pytest.mark.parametrize(
    ("text", "option", "tasks", "message"),
    [
        (b"Look. {question}", "--prompt={}", "med_cmr_mcq", "no place {options}"),
        (b"Look. {question}", "--prompt=med_cmr*={}", "medobvious,med_cmr_mcq", "which med_cmr_mcq needs"),
        (b"\xff {question}", "--prompt={}", "medq_deg_levels", "not UTF-8 text"),
        (b"Look. {quest}", "--prompt={}", "own", "no place {question}"),
        (b"Judge. {x}", "--judge-prompt={}", "med_cmr_open", "Judge protocol 'med_cmr_open'"),
    ],
)
def test_a_file_that_can_be_no_prompt_is_told_before_the_harness_starts(
    harness, tmp_path, text, option, tasks, message
):
    (tmp_path / "bad.txt").write_bytes(text)
    more = () if tasks != "own" else ("--include_path", str(tmp_path))
    asked = ("run", "--model", "m", "--tasks", tasks, *more, option.format(tmp_path / "bad.txt"))
    done = call(*asked)
    assert isinstance(done.exception, UserError) and message in str(done.exception)
    assert harness.commands == []
    # A group's tasks, and one that is not known here, take a file with both places.
    (tmp_path / "good.txt").write_text("Look. {question} {options}")
    if "--judge" not in option:
        harness.results = {task: {"accuracy,none": 0.5} for task in tasks.split(",")}
        assert call(*asked[:-1], option.format(tmp_path / "good.txt")).exit_code in (0, 1)
        assert len(harness.commands) == 1


def test_a_mistake_is_one_message_and_status_2(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "lmms_medtasks", *ASKED, "--limit", "0"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("lmms-medtasks: --limit 0")
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("send", [os.killpg, os.kill], ids=["terminal", "scheduler"])
def test_what_ends_it_reaches_the_harness_once_and_is_waited_for(tmp_path, number, send):
    """Whoever sent it. The harness ends in its own way: here with status 1, after half a second, as a launcher does."""
    child = "import signal, sys, time; came = []; "
    child += (
        f"signal.signal({int(number)}, lambda *_: (came.append(1), time.sleep(0.5), print(len(came)), sys.exit(1))); "
    )
    child += "print('ready', flush=True); time.sleep(60)"
    # Whoever runs the tests may ignore it, under nohup say.
    code = f"import signal, sys; signal.signal({int(number)}, signal.SIG_DFL); "
    code += "from lmms_medtasks.cli.run import _run_to_end; "
    code += f"sys.exit(-_run_to_end([sys.executable, '-c', {child!r}], {{}}))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout.readline() == b"ready\n"
        send(process.pid, number)
        assert process.wait(30) == number and process.stdout.read() == b"1\n"


@pytest.mark.parametrize("paused", [False, True])
def test_a_run_whose_command_is_killed_ends_too(tmp_path, paused):
    """The end of the pipe that both write into is closed when both have ended, also where the harness was paused."""
    child = "import time; print('ready', flush=True); time.sleep(30); print('still there')"
    code = f"from lmms_medtasks.cli.run import _run_to_end; _run_to_end([{sys.executable!r}, '-c', {child!r}], {{}})"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout.readline() == b"ready\n"
        if paused:
            os.kill(process.pid, signal.SIGTSTP)
            os.waitpid(process.pid, os.WUNTRACED)
        process.kill()
        assert process.stdout.read() == b""


def test_a_hangup_that_is_ignored_ends_nothing(tmp_path):
    """As under nohup."""
    child = "import time; print('ready', flush=True); time.sleep(1); print('done')"
    code = "import signal, sys; from lmms_medtasks.cli.run import _run_to_end; "
    code += "signal.signal(signal.SIGHUP, signal.SIG_IGN); "
    code += f"sys.exit(_run_to_end([sys.executable, '-c', {child!r}], {{}}))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout.readline() == b"ready\n"
        os.killpg(process.pid, signal.SIGHUP)
        assert process.stdout.readline() == b"done\n" and process.wait(30) == 0


def test_a_pause_pauses_the_harness_too(tmp_path):
    child = "import time; print('ready', flush=True); time.sleep(1); print('done')"
    code = "import sys; from lmms_medtasks.cli.run import _run_to_end; "
    code += f"sys.exit(_run_to_end([sys.executable, '-c', {child!r}], {{}}))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout.readline() == b"ready\n"
        os.kill(process.pid, signal.SIGTSTP)
        _, status = os.waitpid(process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        os.kill(process.pid, signal.SIGCONT)
        assert process.stdout.readline() == b"done\n" and process.wait(30) == 0


def test_an_output_path_that_cannot_be_written_is_refused_before_anything_is_asked(harness, tmp_path):
    (tmp_path / "a.txt").write_text("x")
    for path, why in (("a.txt/x", "a.txt is a file"), ("a.txt", "Not a directory")):
        result = call(*ASKED, "--output_path", str(tmp_path / path))
        assert isinstance(result.exception, UserError) and f"{why})" in str(result.exception)
    assert not harness.commands


def tasks_given(command_line):
    """The value that the harness takes: the last one."""
    return command_line[len(command_line) - command_line[::-1].index("--tasks")]


def test_degrade_adds_names_to_the_tasks(harness):
    harness.results = {
        name: {"accuracy,none": 0.5}
        for name in ("gqa", "gqa@sparse_view.0", "gqa@sparse_view.2~CT~seed=3", "gqa@motion_blur.1~CT~seed=3")
    }
    harness.results["gqa@sparse_view.0~seed=3"] = harness.results.pop("gqa@sparse_view.0")
    done = call(
        *(*ASKED, "--degrade", "sparse_view:2,motion_blur:1", "--modality", "ct"),
        *("--degrade-seed", "3", "--degrade-control"),
    )
    assert done.exit_code == 0, done.output
    [given] = harness.commands
    assert tasks_given(given) == (
        "gqa,gqa@sparse_view.0~seed=3,gqa@sparse_view.2~CT~seed=3,gqa@motion_blur.1~CT~seed=3"
    )
    assert not any("degrade" in each or "modality" in each for each in given)
    assert "--degrade all" not in done.output
    call(*ASKED, "--degrade", "motion_blur:1", "--degrade-lengths", "share")
    assert tasks_given(harness.commands[-1]) == "gqa,gqa@motion_blur.1~lengths=share"
    told = call(*ASKED, "--degrade", "all:1", "--modality", "ct")
    assert "does not draw for CT, because no image of its authors shows them there: object_movement," in told.output
    del harness.results["gqa@motion_blur.1~CT~seed=3"]
    failed = call(*ASKED, "--degrade", "sparse_view:2,motion_blur:1", "--modality", "ct", "--degrade-seed", "3")
    assert failed.exit_code == 1 and "gqa@motion_blur.1~CT~seed=3" in failed.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--degrade", "gausian_noise:2"], "Did you mean 'gaussian_noise'"),
        (["--degrade", "all:1"], "--modality"),
        (["--degrade", "gaussian_noise:2", "--tasks", "gqa@motion_blur.1"], "degraded already"),
        (["--tasks", "gqa@gaussian_noise.5"], "no level '5'"),
        (["--tasks", "medobvius@gaussian_noise.2"], "Did you mean 'medobvious'"),
        (["--modality", "CT"], "are for --degrade"),
        (["--degrade-control"], "are for --degrade"),
        (["--degrade-lengths", "share"], "are for --degrade"),
        (["--degrade", "gaussian_noise:2", "--degrade-lengths", "share"], "Leave the option out"),
        (["--degrade", "motion_blur:2", "--degrade-lengths", "shares"], "'pixels'"),
        (["--degrade", "gaussian_noise:2", "--config", "tasks.yaml"], "--config"),
    ],
)
def test_what_can_not_be_degraded_is_refused_before_the_harness_starts(harness, options, said):
    done = call(*ASKED, *options)
    assert done.exit_code != 0 and said in f"{done.output}{done.exception}"
    assert harness.commands == []


@pytest.fixture
def included(harness, tmp_path):
    """A folder for --include_path with one task, eye_spot."""
    (tmp_path / "inc" / "eye_spot").mkdir(parents=True)
    (tmp_path / "inc" / "eye_spot" / "eye_spot.yaml").write_text("task: eye_spot\n", "utf-8")
    return tmp_path / "inc"


@pytest.mark.parametrize(
    ("tasks", "folder", "yaml", "said"),
    [
        ("eye_spot", "incl", "", "--include_path incl is no folder. Did you mean 'inc'?"),
        (
            "eye_spott",
            "inc",
            "",
            "Unknown task 'eye_spott' in --tasks. Did you mean 'eye_spot'",
        ),
        ("eye_spot", "inc", "task: eye_spot\n\tx: 1\n", "eye_spot.yaml:2: error: is no YAML"),
        ("eye_spot", "inc", " ", "validate inc/eye_spot"),
        (
            "eye_spot",
            "inc",
            "task: eye_spot\ndataset_path: csv\ndataset_kwargs:\n  data_files:\n    test: nowhere.csv\n",
            "nowhere.csv",
        ),
        ("eye_spot", "inc", "task: eye_spot\ninclude: no_yaml\n", "'no_yaml': no such file beside the YAML"),
    ],
)
def test_mistakes_in_a_contributed_task_are_told_before_the_harness_starts(
    harness, included, tasks, folder, yaml, said
):
    if yaml:
        (included / "eye_spot" / "eye_spot.yaml").write_text(yaml, "utf-8")
    done = call("run", "--model", "m", "--tasks", tasks, "--include_path", folder)
    assert isinstance(done.exception, UserError) and said in str(done.exception), done.exception
    assert not harness.commands


@pytest.mark.parametrize(("status", "told"), [(0, True), (1, True), (2, False)])
def test_a_contributed_task_that_failed_is_told_what_finds_the_cause(harness, included, status, told):
    """Not after a user's mistake, which the harness has told with its way out."""
    harness.results, harness.status = None, status
    done = call("run", "--model", "m", "--tasks", "eye_spot", "--include_path", "inc")
    assert ("lmms-medtasks validate inc/eye_spot\n" in done.output) == told


@pytest.mark.parametrize("tasks", ["eye_spot", "eye_spot,gqa", "./eye_spot"])
def test_a_task_whose_folder_is_here_runs_alone(harness, included, monkeypatch, tasks):
    """lmms-eval would run each YAML of the folder, a variant too; a folder's path still asks for that."""
    monkeypatch.chdir(included)
    call("run", "--model", "m", "--tasks", tasks, "--include_path", ".")
    assert tasks_given(harness.commands[0]) == ("eye_spot,eye_spot" if tasks == "eye_spot" else tasks)


def test_a_task_that_nobody_has_is_told_before_the_harness_starts(harness, included, monkeypatch):
    """The harness says so after 12 s, below a traceback."""
    for more in ((), ("--include_path", "inc")):
        done = call("run", "--model", "m", "--tasks", "gqa,eye_zzz", *more)
        said = str(done.exception)
        assert isinstance(done.exception, UserError) and said.startswith("Unknown task 'eye_zzz' in --tasks.")
        assert said.endswith("A task of your own needs --include_path FOLDER, the folder that holds its folder.")
    assert not harness.commands
    # What the harness alone can know.
    Path("mine.yaml").write_text("task: mine\n", "utf-8")
    for task in ("list", "list_tags", "eye_z*", "inc/eye_spot/eye_spot.yaml", "mine.yaml"):
        call("run", "--model", "m", "--tasks", task)
    monkeypatch.setenv("LMMS_EVAL_PLUGINS", "others")
    call("run", "--model", "m", "--tasks", "eye_zzz")
    assert len(harness.commands) == 6


def test_every_name_of_the_harness_is_known_as_one():
    """Names in lists, with "+", in files without an ending."""
    names = ("mmlu_flan_n_shot_generative_stem", "refcoco+_seg_val", "gqa", "olympiadbench", "mmmu")
    assert all(map(run_arguments.is_mentioned, names)) and not run_arguments.is_mentioned("gq")


def test_an_option_cut_short_and_a_judge_without_a_provider_are_told_at_once(harness, monkeypatch):
    done = call("run", "--model", "m", "--task", "medobvious")
    assert "Did you mean '--tasks'?" in str(done.exception)
    monkeypatch.setenv("MEDTASKS_JUDGE", "gpt-4o")
    assert "Did you mean 'openai:gpt-4o'?" in str(call(*ASKED).exception)
    assert not harness.commands


def test_too_many_failed_requests_are_status_1_unless_they_are_allowed(harness, monkeypatch):
    monkeypatch.delenv("MEDTASKS_ALLOW_FAILURES", raising=False)
    harness.results = {"gqa": {"accuracy,none": 0.5, "failed_requests,none": 3}}
    harness.more = {"configs": {"gqa": {}}, "n-samples": {"gqa": {"effective": 100}}}
    done = call(*ASKED)
    assert done.exit_code == 1 and "3 of 100 requests of gqa failed (3.0%), at most 1.0% may." in done.output
    assert "The same command asks only those again" in done.output and "needs --include_path" not in done.output
    assert harness.environment["MEDTASKS_ALLOW_FAILURES"] == "1"  # it is said once, and not by a launcher's traceback
    done = call(*ASKED, "--allow-failures")
    assert done.exit_code == 0 and "--allow-failures" not in harness.commands[1]
    monkeypatch.setenv("MEDTASKS_ALLOW_FAILURES", "1")
    assert call(*ASKED).exit_code == 0
