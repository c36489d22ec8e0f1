"""``lmms-medtasks leaderboard build``: what it writes, what it says, and its exit status."""

import gc

import pytest
from typer.testing import CliRunner

from lmms_medtasks.cli import leaderboard

OPTIONS = ["--resamples", "0", "--no-reports", "--no-questions"]


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Where a build keeps what it made; what it sets for its process stays out of the tests'."""
    for name in ("set_threshold", "freeze"):
        monkeypatch.setattr(gc, name, lambda *_: None)
    monkeypatch.setenv("MEDTASKS_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def invoke(*arguments):
    return CliRunner().invoke(leaderboard.app, ["build", *map(str, arguments), *OPTIONS])


def test_a_good_run_gives_a_site_and_status_0(tmp_path, write, home):
    write(tmp_path / "runs" / "a", "m", "AB")
    result = invoke(tmp_path / "runs", "-o", tmp_path / "site", "--title", "Ours")
    assert result.exit_code == 0
    assert "5 entries, 0 of them not ranked; 0 refused" in result.output
    assert "<title>Ours</title>" in (tmp_path / "site" / "index.html").read_text()
    assert not (tmp_path / "site" / "questions").exists()
    assert len([path for path in home.rglob("board_cache/*/*/*")]) == 5


def test_what_is_made_is_kept_where_it_was_asked_for_or_not_at_all(tmp_path, write, home):
    write(tmp_path / "runs" / "a", "m", "AB")
    assert invoke(tmp_path / "runs", "-o", tmp_path / "site", "--no-cache").exit_code == 0
    assert not home.exists()
    assert invoke(tmp_path / "runs", "-o", tmp_path / "site", "--cache", tmp_path / "kept").exit_code == 0
    assert not home.exists() and len([path for path in tmp_path.glob("kept/*/*/*")]) == 5


def test_a_refused_run_is_named_the_rest_is_built_and_the_status_says_so(board_folder, tmp_path):
    result = invoke(board_folder, "-o", tmp_path / "site")
    assert result.exit_code == 1
    assert "refused:" in result.output and "broken or cut off" in result.output
    assert (tmp_path / "site" / "suites" / "medobvious.html").is_file()


def test_what_is_wrong_with_a_run_is_printed_once_not_once_a_task(tmp_path, write):
    for folder in ("a", "b"):
        write(tmp_path / folder, "m", "AB" * 10)
    result = invoke(tmp_path, "-o", tmp_path / "site")
    (line,) = (line for line in result.output.splitlines() if line.startswith("lmms-medtasks: "))
    assert "copy (5 tasks): The same replies as in" in line and result.exit_code == 0
    write(tmp_path / "c", "without", "AB", samples=False)
    result = invoke(tmp_path, "-o", tmp_path / "site")
    (line,) = (line for line in result.output.splitlines() if ": refused" in line)
    assert "refused (5 tasks): No sample log of" in line and result.exit_code == 1
    page = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "2 remarks on the entries" in page and page.count("No sample log of") == 1


def test_a_folder_without_a_run_is_named_and_no_empty_site_is_written_unasked(tmp_path, write):
    empty, site = tmp_path / "empty", tmp_path / "site"
    empty.mkdir()
    result = invoke(empty, "-o", site)
    assert f"No *_results.json and no submission in {empty}." in str(result.exception) and not site.exists()
    assert invoke(empty, "-o", site, "--allow-empty").exit_code == 0 and (site / "index.html").is_file()
    write(tmp_path / "runs" / "a", "m", "AB")
    result = invoke(tmp_path / "runs", empty, "-o", site)
    assert result.exit_code == 0 and f"no submission in {empty}" in result.output
    (empty / "x_samples_medq_deg.jsonl").write_text("{}")
    assert "no submission in" in str(invoke(empty, "-o", tmp_path / "other").exception)
