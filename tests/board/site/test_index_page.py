"""The first page: its finding, the table of models by suites, the drawing, and filters that the address keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from lmms_medtasks.board import model_facts
from lmms_medtasks.board.boards import Leaderboard
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.rules import with_own
from lmms_medtasks.board.site import board_tables, finding_words, index_page
from lmms_medtasks.board.site.board_tables import BoardStandings, PageLinks
from lmms_medtasks.board.site.index_page import LeaderboardTable
from lmms_medtasks.board.site.write_site import SiteOptions, build_site

IMAGES = 40
RIGHT = {"org/best": (38, 28), "org/like": (37, 27), "poor": (8, 6), "odd": (30, 4)}
"""By model how many of forty images it is right on, clean and degraded."""


def letters(right: int, unreadable: int = 0) -> dict[str, str]:
    answers = "A" * right + "B" * (IMAGES - right - unreadable) + "-" * unreadable
    return {f"q{number:02d}": letter for number, letter in enumerate(answers)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, runs: ModuleType) -> Path:
    """Four models on clean and degraded pictures, of one many replies are unreadable; one was asked less of another."""
    root = tmp_path_factory.mktemp("runs")
    for name, (clean, degraded) in RIGHT.items():
        unreadable = 10 if name == "odd" else 0
        tasks = {
            "medq_deg_l0": runs.choice_rows(letters(clean), images=IMAGES, severity=0),
            "medq_deg_l2": runs.choice_rows(letters(degraded, unreadable), images=IMAGES, severity=2),
        }
        if name == "poor":
            tasks["med_cmr_mcq"] = runs.choice_rows(letters(20), images=IMAGES)
        runs.write(root / name.replace("/", "-"), tasks, model=name)
    part = {"med_cmr_mcq": runs.choice_rows(letters(20), images=IMAGES)}
    runs.write(root / "part", part, model="org/best", limit=40.0, original=80)
    return root


@pytest.fixture(scope="module")
def board(folder: Path) -> Leaderboard:
    return collect_entries([folder])


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> model_facts.KnownModels:
    path = tmp_path_factory.mktemp("facts") / "models.yml"
    path.write_text("org/best: {parameters_b: 7, open_weights: true}\npoor: {parameters_b: 120, about: large}\n")
    return model_facts.read_model_facts(path)


@pytest.fixture(scope="module")
def standings(board: Leaderboard, known: model_facts.KnownModels) -> BoardStandings:
    return BoardStandings(board, 100, known)


@pytest.fixture(scope="module")
def found(standings: BoardStandings) -> LeaderboardTable:
    links = PageLinks(model=lambda key: f"models/{key}.html", suite=lambda name: f"suites/{name}.html")
    return index_page.leaderboard_table(standings, links)


@pytest.fixture(scope="module")
def index_site(tmp_path_factory: pytest.TempPathFactory, board: Leaderboard, known: model_facts.KnownModels) -> Path:
    output = tmp_path_factory.mktemp("out") / "site"
    build_site(board, output, SiteOptions(resamples=100, reports=False, questions=False, models=known))
    return output


def board_says(standings: BoardStandings) -> str:
    heads = index_page.leaderboard_table(standings, PageLinks(model=str, suite=str)).heads
    return finding_words.of_board(standings, [(each.about, (each.task, each.measure)) for each in heads])


def test_rows_are_best_first_with_tiers_and_the_ranks_that_chance_leaves(found: LeaderboardTable) -> None:
    assert [row.name for row in found.measured] == ["org/best", "org/like", "poor", "odd"]
    # One question between the first two: not told apart.
    # The others are no better than guessing: they have a rank and no tint.
    assert [row.scores[0].cell.tier for row in found.measured] == [1, 1, 0, 0]
    assert [row.scores[0].rank for row in found.measured] == ["1–2", "1–2", "3–4", "3–4"]
    assert found.measured[0].scores[0].number == "70.0"
    # What the legend explains is there: nobody has the second tint, and ranks are open.
    assert [tint for tint, _ in found.legend if tint] == [1]
    legend = [text for tint, text in found.legend if not tint]
    assert legend[1:3] == ["1–2: the model may be first or second", "no tint: no better than guessing or with a mark"]


def test_a_cell_says_what_is_missing_or_to_be_doubted(found: LeaderboardTable) -> None:
    assert [head.about.name for head in found.heads] == ["medq_deg", "med_cmr"]
    rows = {row.name: row for row in found.measured}
    assert rows["odd"].scores[0].cell.mark == "†" and not rows["poor"].scores[0].cell.mark
    assert rows["org/best"].scores[1].why == "not ranked" and not rows["org/like"].scores[1].why
    assert rows["org/like"].scores[1].sort is None


def test_the_table_says_what_became_of_replies_without_an_answer(board: Leaderboard, standings: BoardStandings) -> None:
    entry = next(each for each in board.of(task="medq_deg_l2") if each.model.name == "odd")
    assert entry.outcomes == {"answered": 30, "unreadable": 10, "cut": 0, "empty": 0, "refused": 0, "failed": 0}
    table = board_tables.ranking_table("medq_deg_l2", standings, PageLinks(model=str, suite=str))
    assert table is not None and [row.cells[6].value for row in table.rows if row.cells[0].value == "odd"] == [
        "10 unreadable"
    ]
    assert standings.numbers("medq_deg_l2", "accuracy")[entry.model.key].cell.mark == "†"


def test_published_models_have_no_rank_and_one_row_over_all_suites(found: LeaderboardTable) -> None:
    rows = {row.name: row for row in (*found.published, *found.folded)}
    assert len(rows) > 40
    assert [score.number for score in rows["Lingshu 7B"].scores] == ["61.3", "27.3"]
    assert "Table 6" in rows["Lingshu 7B"].scores[0].source
    assert not any(score.rank or score.cell.tier or score.interval for row in rows.values() for score in row.scores)
    # The best of each suite is shown, the others are folded.
    assert [row.name for row in found.published] == ["InternVL3 78B", "GPT-5"]


def test_the_finding_says_who_is_best_what_is_lost_and_who_is_not_told_apart(standings: BoardStandings) -> None:
    said = board_says(standings)
    assert said.startswith("MedQ-Deg: org/best 70.0 % [") and said.endswith("not told apart from it: org/like.")
    assert "under severe degradation, 95.0 % on clean images: loses 25.0 points [" in said


def test_people_are_no_model_of_the_papers(tmp_path: Path, write: Callable[..., Path], rows_of: Any) -> None:
    write(tmp_path, "a", "AABB" * 5, tasks={"medobvious": rows_of["medobvious"]})
    made = BoardStandings(collect_entries([tmp_path]), resamples=20)
    table = index_page.leaderboard_table(made, PageLinks(model=str, suite=str))
    assert [row.name for row in table.rows if row.note == "people, no model"] == ["Human expert"]
    [headline] = finding_words.model_headlines(made.board.entries, made)
    assert headline.number.published is not None and headline.number.published[1] == pytest.approx(64.6, abs=0.05)


def test_a_single_model_is_called_so(tmp_path: Path, runs: ModuleType) -> None:
    runs.write(tmp_path / "m", {"medq_deg_l2": runs.choice_rows(letters(20), images=IMAGES)}, model="m")
    lone = BoardStandings(collect_entries([tmp_path]), resamples=0)
    said = board_says(lone)
    assert "50.0 %" in said and "the only model that is ranked" in said


def test_models_that_are_tied_share_the_first_place_and_guessing_is_called_so(tmp_path: Path, runs: ModuleType) -> None:
    for name in ("a", "b"):
        runs.write(tmp_path / name, {"med_cmr_mcq": runs.choice_rows(letters(10), images=IMAGES)}, model=name)
    alike = BoardStandings(collect_entries([tmp_path]), resamples=20)
    said = board_says(alike)
    assert said.startswith("Med-CMR: a and b share the first place") and "no better than guessing (25.0 %)" in said


def test_no_model_is_called_best_where_several_lead_with_the_same_score(tmp_path: Path, runs: ModuleType) -> None:
    for name in ("a", "b"):
        of_level = [
            runs.choice_rows({f"q{number}-{level}": "B" if level == 2 and number < 20 else "A" for number in range(40)},
                             severity=level)
            for level in range(3)
        ]  # fmt: skip
        for level, rows in enumerate(of_level):
            for row in rows:
                row[f"accuracy_l{level}"] = row.pop("accuracy")
        runs.write(tmp_path / name, {"medq_deg": sum(of_level, [])}, model=name)
    alike = BoardStandings(collect_entries([tmp_path]), resamples=20)
    said = board_says(alike)
    assert said.startswith("MedQ-Deg: a and b share the first place") and "loses 50.0 points" in said
    assert "best" not in said and "told apart" not in said


def test_the_page_has_all_rows_and_what_filters_ask_without_a_script(index_site: Path) -> None:
    text = (index_site / "index.html").read_text("utf-8")
    assert re.search(r'id="filters"[^>]* hidden>', text)
    assert re.findall(r'class="mine".*?class="place">(.*?)<', text, re.DOTALL) == ["1–2", "1–2", "3–4", "3–4"]
    assert text.count('class="mine"') == len(RIGHT) and text.count('class="printed"') > 40
    assert re.search(r'data-name="org/best" data-open="1" data-size="7">', text)
    assert re.search(r'data-name="org/like">', text)
    # The drawing is that of the suite that the finding is of.
    drawing = text[text.index('id="drawn-title">MedQ-Deg: how far each model falls') :]
    assert drawing.count("<svg") == drawing.count("</svg>") > 1 and "org/best, severe: 70.0 %" in drawing
    assert "Unverified." in text and 'href="measured.html#verified"' in text
    assert 'id="verified"' in (index_site / "measured.html").read_text("utf-8")


SHOWN = "[...document.querySelectorAll('tr.mine')].filter((row) => !row.hidden).map((row) => row.dataset.name)"


def test_sorting_and_filters_stand_in_the_address(browser, index_site: Path) -> None:
    page = index_site / "index.html"
    browser.open(page)
    browser.run("document.querySelector('[data-by=med_cmr] button').click()")
    assert browser.run(SHOWN)[0] == "poor"
    # The ranks at the left are those of the sorted column, and "best" was asked less of it.
    places = "[...document.querySelectorAll('tr.mine')].map((row) => row.cells[0].textContent).join()"
    assert browser.run(places).startswith("1,") and browser.run(places).count("3–4") == 0
    assert browser.run("document.getElementById('ranked-by').textContent") == "Med-CMR"
    assert browser.run("document.querySelector('[data-by=med_cmr]').ariaSort") == "descending"
    browser.run("document.querySelector('[data-filter=published]').click()")
    assert browser.run("document.querySelectorAll('tr.printed:not([hidden])').length") == 0
    address = browser.run("location.hash")
    assert "by=med_cmr" in address and "published=0" in address
    for fragment, shown in (
        ("#open=1", ["org/best"]),
        ("#size=over", ["poor"]),
        ("#size=10", ["org/best"]),
        ("#size=unsaid", ["org/like", "odd"]),
        ("#verified=1", []),
        ("#by=model&up=1", ["poor", "org/like", "org/best", "odd"]),
    ):
        browser.open(index_site / "measured.html")  # a link from elsewhere, not a step inside the page
        browser.open(page, fragment)
        assert browser.run(SHOWN) == shown, fragment
    browser.run("new Promise((done) => { addEventListener('hashchange', done); location.hash = 'size=over'; })")
    assert browser.run(SHOWN) == ["poor"]
    browser.run("new Promise((done) => { addEventListener('hashchange', done); location.hash = 'suites'; })")
    assert browser.run(SHOWN) == ["poor"]
    assert browser.errors == []


def test_a_model_that_is_ranked_on_other_tasks_of_a_suite_leads_there(tmp_path: Path, runs: ModuleType) -> None:
    one, other = (
        {task: runs.choice_rows(letters(30), images=IMAGES, severity=2)} for task in ("medq_deg_l2", "medq_deg_noimage")
    )
    runs.write(tmp_path / "one", one, model="one")
    runs.write(tmp_path / "other", other, model="other")
    links = PageLinks(model=str, suite=lambda name: f"suites/{name}.html")
    made = index_page.leaderboard_table(BoardStandings(collect_entries([tmp_path]), 0), links)
    assert [(row.name, row.scores[0].why) for row in made.measured] == [("one", ""), ("other", "other tasks")]
    assert (0, "other tasks: ranked on other tasks of the benchmark") in made.legend


def test_a_copy_of_an_entry_that_stands_is_a_remark_and_no_warning(tmp_path: Path, runs: ModuleType) -> None:
    """As where the replies of a run were judged: each task is there twice, the open ones judged and not."""
    rows = {task: runs.choice_rows(letters(30), images=IMAGES) for task in ("med_cmr_mcq", "medq_deg_l2")}
    for folder, judge, total in (("run", {"name": "none"}, None), ("with_verdicts", runs.JUDGE, 40.0)):
        judged = runs.judged_rows(dict.fromkeys(("q1", "q2"), total), judge=judge["name"])
        path = runs.write(tmp_path / folder, {**rows, "med_cmr_open": judged}, model="m", metadata={"judge": judge})
        content = json.loads(path.read_text("utf-8"))
        for task in rows:
            content["configs"][task]["metadata"] = {**content["configs"][task]["metadata"], "judge": None}
        path.write_text(json.dumps(content), "utf-8")
    copied = collect_entries([tmp_path], by_measure=True)
    assert {entry.task: (entry.ranked, entry.source.results.parent.name) for entry in copied.entries} == dict.fromkeys(
        (*rows, "med_cmr_open"), (True, "with_verdicts")
    )
    assert len(copied.entries) == 3 and not copied.bad
    build_site(copied, tmp_path / "site", SiteOptions(resamples=20, reports=False, questions=False))
    text = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "Refused." not in text and "<summary>1 remark on the entries</summary>" in text
    page = next((tmp_path / "site" / "models").glob("*.html")).read_text("utf-8")
    assert "Not ranked:" not in page and "not judged" not in page
    # By its own rules a board may refuse a copy.
    strict = collect_entries([tmp_path], by_measure=True, rules=with_own({"levels": {"duplicate": "refused"}}, "here"))
    assert [each.code for each in strict.bad] == ["duplicate"] * 3


def test_remarks_are_rows_of_the_table(tmp_path: Path, runs: ModuleType) -> None:
    for name, task in (("one", "medq_deg_l2"), ("other", "medq_deg_noimage")):
        runs.write(tmp_path / name, {task: runs.choice_rows(letters(30), images=IMAGES, severity=2)}, model=name)
    two = {task: runs.choice_rows(letters(30), images=IMAGES) for task in ("med_cmr_mcq", "medq_deg_l2")}
    runs.write(tmp_path / "part", two, model="part", limit=40.0, original=80)
    build_site(
        collect_entries([tmp_path]), tmp_path / "site", SiteOptions(resamples=20, reports=False, questions=False)
    )
    text = (tmp_path / "site" / "index.html").read_text("utf-8")
    # One reason for both tasks of a run is one row of the table.
    assert "<summary>1 remark on the entries</summary>" in text
