"""`lmms-medtasks run --estimate`: from a few questions to all of them."""

from __future__ import annotations

import json
import re
import subprocess
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli import estimate as estimating
from lmms_medtasks.cli.app import build_app
from lmms_medtasks.judges import registry
from lmms_medtasks.judges.settings import read_judge_settings
from lmms_medtasks.samples import result_files as results
from tests import made_up_runs

ASKED = ["run", "--model", "m", "--tasks", "gqa", "--estimate"]


def write_run(folder: Path, counts: list[Any], server: str = "") -> results.ResultFile:
    """A run of the task ``gqa``, 1,000 questions with T = 3, of which ``counts`` have been asked."""
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "results": {"gqa": {"accuracy,none": 0.5}},
        "configs": {"gqa": {"repeats": 3, "metadata": {"server": {"trials": server}}}},
        "n-samples": {"gqa": {"original": 1000, "effective": len(counts)}},
    }
    path = folder / "1_results.json"
    path.write_text(json.dumps(content), "utf-8")
    rows = [{"doc_id": number, "token_counts": [each]} for number, each in enumerate(counts)]
    (folder / "1_samples_gqa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return results.read_result_file(path)


TIMES = {"gqa": {"seconds": 6.0, "requests": 12, "pictures": 6, "seen": 4}}


@pytest.mark.parametrize(
    ("server", "prompts", "replies"),
    [("one request with n", 1000, 3000), ("asked once, temperature 0", 1000, 1000), ("one request each", 3000, 3000)],
)
def test_a_server_reads_the_prompt_once_for_all_trials(tmp_path: Path, server: str, prompts: int, replies: int) -> None:
    tokens = [{"input_tokens": 100, "output_tokens": 10}] * 4
    (found,) = estimating.estimate_tasks([write_run(tmp_path, tokens, server)], TIMES)
    assert (found.tokens_in, found.tokens_out) == (100 * prompts, 10 * replies)


def test_everything_scales_to_all_requests(tmp_path: Path) -> None:
    tokens = [{"input_tokens": 100, "output_tokens": n} for n in (10, 20, 30, 40)]
    (found,) = estimating.estimate_tasks([write_run(tmp_path, tokens)], TIMES)
    assert (found.questions, found.trials, found.requests) == (1000, 3, 3000)
    assert (found.pictures, found.tokens_in, found.tokens_out) == (4500, 300_000, 75_000)
    assert found.seconds == 1500  # half a second a request
    assert found.total_cost(2.0, 8.0) == pytest.approx(0.6 + 0.6)


def test_the_longest_that_replies_may_be_is_said_where_the_limits_are_recorded() -> None:
    found = [estimating.TaskEstimate("a", 100, 3, limit=512), estimating.TaskEstimate("b", 50, 1, limit=4096)]
    said = "Were every reply as long as its limit (512 or 4,096 tokens), 358,400 tokens would be written"
    assert f"{said}." in estimating.estimate_lines(found, (None, None), 0, 20)
    assert f"{said}, which cost 2.87." in estimating.estimate_lines(found, (1.0, 8.0), 0, 20)
    found.append(estimating.TaskEstimate("c", 50, 1))
    assert not any("Were every" in line for line in estimating.estimate_lines(found, (None, None), 0, 20))


def test_processes_share_the_requests(tmp_path: Path) -> None:
    (found,) = estimating.estimate_tasks([write_run(tmp_path, [None] * 4)], TIMES, processes=4)
    assert found.seconds == 375


def test_what_a_runner_does_not_report_is_not_made_up(tmp_path: Path) -> None:
    (found,) = estimating.estimate_tasks([write_run(tmp_path, [None] * 4)], {})
    assert (found.pictures, found.tokens_in, found.tokens_out, found.seconds, found.total_cost(1, 1)) == (None,) * 5
    text = "\n".join(estimating.estimate_lines([found], (1.0, 1.0), 10.0, 4))
    assert "3,000" in text and text.count(" -") >= 5


@pytest.mark.parametrize(("trials", "said"), [(1, False), (3, True)])
def test_tokens_of_trials_that_share_a_request_are_said_to_be_fewer(trials: int, said: bool) -> None:
    found = estimating.TaskEstimate("gqa", 10, trials, 10.0, 100.0, 10.0, 1.0)
    assert ("for each trial" in "\n".join(estimating.estimate_lines([found], (1.0, 1.0), 10.0, 4))) == said


def test_the_sum_is_unknown_where_a_part_is(tmp_path: Path) -> None:
    known = estimating.TaskEstimate("a", 10, 1, 10, 100, 50, 60)
    unknown = estimating.TaskEstimate("b", 10, 1, 10, None, 50, 60)
    together = estimating.estimate_lines([known, unknown], (None, None), 1.0, 5)[3].split()
    assert together == ["together", "20", "20", "20", "-", "100", "2", "min", "0", "s"]


@pytest.mark.parametrize(
    ("judge", "price", "withheld", "said"),
    [
        ("openai:m", "1,10", "", "m, not asked here, would give about 20 judgements: about .* 4,000 out, 0.06 USD"),
        ("openai:m", "1,10", "b", "20 judgements: about .* 2,000 out, 0.03 USD. Without 10 of them, whose terms keep"),
        ("openai:m", "1,10", "ab", "about 20 judgements; its tokens are not known"),
        ("openai:m", "", "", "4,000 out. Set MEDTASKS_JUDGE_PRICE="),
        ("local:m", "", "", "4,000 out.$"),
        ("", "", "", "No judge for med_cmr_open"),
    ],
)
def test_what_the_judge_will_be_asked(tmp_path: Path, judge: str, price: str, withheld: str, said: str) -> None:
    """Of three answers a rule settles one; there are 30 questions."""
    rows = {"med_cmr_open": made_up_runs.judged_rows({"a": None, "b": None, "c": 0.0}, settled=["c"])}
    for row in rows["med_cmr_open"]:
        fields = {name: "four" for name in registry.get("med_cmr_open").fields}
        row["questions"]["judgement"]["items"] = "withheld" if row["questions"]["id"] in withheld else [fields]
    configs = {"med_cmr_open": {"lmms_eval_specific_kwargs": {"default": {"judge": "med_cmr_open"}}}}
    run = results.read_result_file(made_up_runs.write_files(tmp_path, rows, configs, original=30))
    chosen = read_judge_settings({"OPENAI_API_KEY": "x", "MEDTASKS_JUDGE_PRICE": price}, judge)
    (line,) = estimating.judge_lines([run], chosen, None)
    assert re.search(said, line), line


@pytest.fixture
def harness(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> SimpleNamespace:
    """A stand-in for the harness that writes a small run and its times."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path_factory.mktemp("home")))
    state = SimpleNamespace(commands=[], environments=[], status=0)

    def stand_in(arguments: list[str], env: dict[str, str] | None = None, **_: object) -> nullcontext[SimpleNamespace]:
        if env is None:  # what watches over the command
            return nullcontext(SimpleNamespace(kill=lambda: None))
        state.commands.append(arguments)
        state.environments.append(env)
        if not state.status:
            write_run(Path(arguments[-1]), [{"input_tokens": 100, "output_tokens": 10}] * 4)
            Path(env["MEDTASKS_CALL_TIMES"]).write_text(json.dumps(TIMES), "utf-8")
        return nullcontext(SimpleNamespace(pid=0, wait=lambda: state.status))

    monkeypatch.setattr(subprocess, "Popen", stand_in)
    return state


def test_asks_a_few_questions_and_leaves_nothing(harness: SimpleNamespace, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        build_app(),
        [*ASKED, "--output_path", "kept", "--estimate-questions", "4", "--price-in", "2", "--price-out", "8"],
    )
    assert done.exit_code == 0, done.output
    row = next(line for line in done.output.splitlines() if line.startswith("gqa"))
    assert row.split() == ["gqa", "1,000", "3", "3,000", "4,500", "300,000", "30,000", "25", "min", "0", "s", "0.84"]
    command = harness.commands[0]
    assert command[command.index("--limit") + 1] == "4" and command[-2] == "--output_path"
    assert harness.environments[0]["MEDTASKS_JOURNAL"] == "off"
    assert list(tmp_path.iterdir()) == [] and not Path(command[-1]).exists()


def test_the_same_command_says_later_what_was_estimated(harness: SimpleNamespace) -> None:
    CliRunner().invoke(build_app(), [*ASKED, "--output_path", "kept", "--price-in", "2", "--price-out", "8"])
    run = [part for part in ASKED if part != "--estimate"]
    for more in (["--output_path", "runs"], ["--gen_kwargs", "temperature=1"], ["--output_path=runs"]):
        CliRunner().invoke(build_app(), [*run, *more])
    said = [environment.get("MEDTASKS_ESTIMATED") for environment in harness.environments]
    assert said[0] is None and said[2] is None and said[3] == said[1]
    # 3,000 requests: of 0.5 s, 100 tokens in (2 a million) and 10 out (8 a million), as above.
    assert re.fullmatch(
        r"By the estimate of 20..-..-..: about 25 min 0 s, 300,000 tokens in and 30,000 out, a price of 0\.84\.",
        said[1] or "",
    ), said


def test_a_failed_run_gives_no_estimate(harness: SimpleNamespace) -> None:
    harness.status = 3
    done = CliRunner().invoke(build_app(), ASKED)
    assert done.exit_code == 3 and "nothing to estimate from" in done.output


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--limit", "5"], "--limit does not go with --estimate"),
        (["--use_cache", "x"], "--use_cache does not go with --estimate"),
        (["--price-in", "1"], "Give both prices or none"),
        (["--price-in", "-1", "--price-out", "1"], "--price-in must be a price of 0 or more"),
    ],
)
def test_what_does_not_go_together(harness: SimpleNamespace, more: list[str], said: str) -> None:
    done = CliRunner().invoke(build_app(), [*ASKED, *more])
    assert done.exit_code and said in str(done.exception)
    assert not harness.commands
