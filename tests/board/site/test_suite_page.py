"""A suite's page: its finding, chart, ranking, pairs and telling questions, made of the scores alone."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from lmms_medtasks import folders
from lmms_medtasks.board.boards import Leaderboard
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.site import finding_words, suite_words
from lmms_medtasks.board.site.board_tables import BoardStandings, PageLinks
from lmms_medtasks.board.site.suite_charts import suite_chart
from lmms_medtasks.board.site.suite_words import SuiteTexts
from lmms_medtasks.board.site.telling_questions import discordant_questions
from lmms_medtasks.board.site.write_site import SiteOptions, build_site
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.task_configs.medobvious.report_published import PLANE
from tests.board.made_up_entries import board_of, of_every_kind

CLEAN, SEVERE = "medq_deg_l0", "medq_deg_l2"
HEAD, FIRST = (SEVERE, "accuracy"), (CLEAN, "accuracy")
IMAGES = 40
LINKS = PageLinks(model=lambda key: f"{key}.html", suite=lambda name: name)
# Right on so many of 40 clean pictures, and of 40 severely degraded ones.
MODELS = {"best": (38, 30), "like": (37, 29), "poor": (20, 9)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, runs: ModuleType) -> Path:
    """Three models on clean and severe pictures, and a limited run of the best one on the severe ones."""
    found = tmp_path_factory.mktemp("runs")

    def rows(right: int, count: int = IMAGES) -> list[dict[str, object]]:
        # q39 is wrong for all; q00 is wrong when clean, and right when severe.
        letters = {f"q{number:02}": "A" if number < right else "B" for number in range(count)}
        return runs.choice_rows(letters, images=IMAGES)  # type: ignore[no-any-return]

    for name, (clean, severe) in MODELS.items():
        runs.write(found / name, {CLEAN: rows(clean), SEVERE: rows(severe)}, model=name)
    runs.write(found / "limited", {SEVERE: rows(4, 4)}, model="best", limit=4.0, original=IMAGES)
    return found


@pytest.fixture(scope="module")
def standings(folder: Path) -> BoardStandings:
    return BoardStandings(collect_entries([folder]), resamples=100)


@pytest.fixture(scope="module")
def about() -> SuiteTexts:
    return suite_words.suite_texts("medq_deg")


@pytest.fixture(scope="module")
def page(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    site = tmp_path_factory.mktemp("out") / "site"
    build_site(collect_entries([folder]), site, SiteOptions(resamples=100, reports=False))
    return (site / "suites" / "medq_deg.html").read_text("utf-8")


def test_the_sentence_says_the_best_its_loss_and_who_is_like_it(about: SuiteTexts, standings: BoardStandings) -> None:
    said = finding_words.suite_finding(about, standings, HEAD)
    assert said.startswith("best 75.0 % [")
    # 38 of 40 less 30 of 40 are 20 points; the interval is over images.
    change = re.search(r", 95\.0 % on clean images: loses 20\.0 points \[([\d.]+), ([\d.]+)\];", said)
    assert change and float(change[1]) < 20 < float(change[2])
    assert "; not told apart from it: like; " in said
    assert "poor is no better than guessing (25.0 %)" in said and said.endswith(".")


def test_a_loss_that_is_not_beyond_chance_is_called_so(
    about: SuiteTexts, standings: BoardStandings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(*ends: tuple[float | None, float | None]) -> str:
        found = dict(
            zip(sorted(standings.of(*HEAD)), (IntervalEstimate(-0.2, *each, 9, 9) for each in ends), strict=True)
        )
        monkeypatch.setattr(finding_words, "headline_change", lambda own, about, key, head: found[key])
        return finding_words.suite_finding(about, standings, HEAD)

    open_, bare = (-0.4, 0.1), (None, None)
    assert "shows no change beyond chance (-20.0 points [-40.0, 10.0])" in said(open_, open_, open_)
    assert "loses 20.0 points, without an interval" in said(bare, bare, bare)


def test_one_question_is_no_questions(tmp_path: Path, runs: ModuleType) -> None:
    runs.write(tmp_path / "m", {SEVERE: runs.choice_rows({"q": "A"})}, model="m")
    build_site(
        collect_entries([tmp_path / "m"]), tmp_path / "site", SiteOptions(resamples=0, reports=False, questions=False)
    )
    text = (tmp_path / "site" / "suites" / "medq_deg.html").read_text("utf-8")
    assert ">1 question<" in text and ">1 image<" in text
    assert not re.search(r"\b1 (questions|images)\b", text)


def test_who_is_told_apart_from_another_may_not_be_told_apart_from_the_best(
    about: SuiteTexts, standings: BoardStandings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second model is better than the third beyond chance; the best is not: its rank interval alone hides that."""
    keys, found = standings.ranking(*HEAD)
    assert found.pairs is not None
    order = sorted(range(3), key=lambda place: -(found.standings[place].mean.estimate or 0.0))
    better = np.zeros((3, 3), dtype=bool)
    better[order[1], order[2]] = True
    changed = replace(found, pairs=replace(found.pairs, better=better))
    monkeypatch.setattr(standings, "ranking", lambda *head: (keys, changed))
    assert set(standings.alike(*HEAD, keys[order[0]])) == {keys[order[1]], keys[order[2]]}
    assert standings.alike(*HEAD, keys[order[1]]) == [keys[order[0]]]
    assert "not told apart from it: like and poor" in finding_words.suite_finding(about, standings, HEAD)


def test_of_two_models_of_one_number_none_is_the_best(tmp_path: Path, runs: ModuleType) -> None:
    letters = [
        {f"q{n:02}": "A" if n not in wrong else "B" for n in range(IMAGES)} for wrong in ((0, 1), (2, 3), range(30))
    ]
    for name, own in zip(("one", "other", "poor"), letters, strict=True):
        runs.write(tmp_path / name, {SEVERE: runs.choice_rows(own, images=IMAGES)}, model=name)
    equal = BoardStandings(collect_entries([tmp_path]), 100)
    said = finding_words.suite_finding(suite_words.suite_texts("medq_deg"), equal, HEAD)
    assert said.startswith("one and other share the first place, 95.0 % [")
    assert "not told apart" not in said


def test_without_a_ranked_entry_the_sentence_says_why(about: SuiteTexts, folder: Path) -> None:
    board = collect_entries([folder / "limited"])
    said = finding_words.suite_finding(about, BoardStandings(board, 100), None)
    assert said.startswith("no model is ranked yet")


def test_the_chart_has_every_ranked_model_and_published_ones_that_are_never_measured(
    about: SuiteTexts, standings: BoardStandings
) -> None:
    drawn = suite_chart(about, standings, LINKS, HEAD)
    assert drawn is not None and list(drawn.series.values()) == [FIRST, HEAD]
    own, printed = drawn.rows("run"), drawn.rows("reference")
    assert [tuple(cell.value for cell in row.cells) for row in own] == [
        ("best", 95.0, 75.0), ("like", 92.5, 72.5), ("poor", 50.0, 22.5),
    ]  # fmt: skip
    assert all(row.cells[2].low is not None and row.cells[0].href for row in own)
    assert len(printed) == 40 and not any(row.cells[0].href for row in printed)
    assert {row.cells[2].low for row in printed} == {None}
    assert drawn.chance == 25.0


def test_a_plane_is_drawn_on_the_scales_of_its_measures_and_hides_no_model(
    about: SuiteTexts, standings: BoardStandings, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"kind": "plane", "title": "t", "series": {"a": [[*FIRST]], "b": [[*HEAD]]}, "axes": ["a", "b"]}
    drawn = suite_chart(replace(about, chart=said), standings, LINKS, HEAD)
    assert drawn is not None
    ((title, picture),) = drawn.drawings
    assert drawn.guide is None and 'class="guess"' not in picture  # its report declares no plane
    assert title == "" and picture.count('class="own"') == 1 + 3 and picture.count('class="published"') == 1 + 40
    # "best" has 95 of 100 on the first series, so it stands 5 % from the left; 75 of 100 are a quarter from the top.
    assert re.search(r'<circle cx="5%" cy="\d+" r="5" class="own"><title>best: 5.*?, 75\.0 %', picture)


def test_who_is_below_guessing_is_not_called_no_better_than_it(tmp_path: Path, runs: ModuleType) -> None:
    letters = {"knows": "A" * 40, "guesses": "A" * 10 + "B" * 30, "fails": "B" * 40}
    for name, own in letters.items():
        rows = runs.choice_rows({f"q{number:02}": letter for number, letter in enumerate(own)})
        runs.write(tmp_path / name, {SEVERE: rows}, model=name)
    found = BoardStandings(collect_entries([tmp_path]), 50)
    said = finding_words.suite_finding(SuiteTexts("medq_deg", "Mine"), found, HEAD)
    assert said.endswith("; guesses is no better than guessing (25.0 %); fails is below guessing (25.0 %).")


def test_a_plane_has_the_line_of_guessing_that_its_report_draws(tmp_path: Path, runs: ModuleType) -> None:
    rows = [
        row
        for sign in (0, 1)
        for row in runs.choice_rows({f"q{sign}{number}": "AB"[number % 2] for number in range(12)}, negative=sign)
    ]
    for row in rows:
        # One of four places and none.
        row["questions"]["measures"]["chance"] = {"score": 0.2}
    reported = {f"accuracy_{sign},trials": 0.5 for sign in ("positive", "negative")}
    board = collect_entries([runs.write(tmp_path, {"medobvious": rows}, reported=reported)])
    head = ("medobvious", "accuracy")
    drawn = suite_chart(suite_words.suite_texts("medobvious"), BoardStandings(board, 0), LINKS, head)
    assert drawn is not None and PLANE.guide and drawn.guide == PLANE.guide(board.entries[0].samples)
    # Who always claims an outlier finds one of the four places.
    assert (drawn.guide.x2, drawn.guide.y2, drawn.guide.label) == (100, 25.0, "guessing")
    assert ">guessing</text>" in drawn.drawings[0][1] and drawn.drawings[0][1].count('class="guess"') == 1


def test_rows_beyond_the_first_are_folded_and_none_is_lost(about: SuiteTexts, standings: BoardStandings) -> None:
    drawn = suite_chart(about, standings, LINKS, HEAD)
    assert drawn is not None and [title for title, _ in drawn.drawings] == ["", "32 more published models"]
    best, *more = drawn.rows("run")[0].cells
    rows = [replace(drawn.frame.rows[0], cells=(replace(best, value=f"m{number}"), *more)) for number in range(15)]
    many = replace(drawn, frame=replace(drawn.frame, rows=(*rows, *drawn.rows("reference"))))
    titles, pictures = zip(*many.drawings, strict=True)
    assert titles == ("", "3 more measured models", "32 more published models")
    assert all(sum(f"m{number}, severe: 75.0 %" in each for each in pictures) == 1 for number in range(15))


def test_a_suite_that_declares_no_chart_has_its_headline(standings: BoardStandings) -> None:
    drawn = suite_chart(SuiteTexts("medq_deg", "Mine"), standings, LINKS, HEAD)
    assert drawn is not None and drawn.chart.kind == "ranges" and list(drawn.series.values()) == [HEAD]
    assert [row.cells[0].value for row in drawn.rows("run")] == ["best", "like", "poor"]


def test_questions_are_chosen_by_rule_and_each_once(standings: BoardStandings) -> None:
    found = discordant_questions(standings, HEAD, FIRST, ("clean", "severe"))
    assert [each.heading for each in found] == [
        "Correct when clean, wrong when severe", "Nobody is correct, clean or severe", "The models disagree most",
        "Only the best is correct", "Nobody is correct when severe",
    ]  # fmt: skip
    # All three models are right on q09 to q19 when clean; when severe the first that all get wrong is q30: there two
    # were right.
    assert (found[0].id, found[0].said) == ("q30", "Clean: 2 of 3 models correct; severe: 0 of 3 models correct.")
    assert (found[1].id, found[1].said) == ("q38", "Clean: 0 of 3 models correct; severe: 0 of 3 models correct.")
    assert found[3].id == "q29" and len({each.id for each in found}) == len(found)
    assert found == discordant_questions(standings, HEAD, FIRST, ("clean", "severe"))


def test_a_limited_run_of_a_model_takes_its_full_run_nowhere(
    folder: Path, standings: BoardStandings, page: str
) -> None:
    own = [entry for entry in standings.board.entries if entry.model.name == "best" and entry.task == SEVERE]
    assert sorted(entry.ranked for entry in own) == [False, True]
    assert standings.of(*HEAD)[own[0].model.key].rank == 1
    assert "best 75.0\u00a0%" in page and "not ranked:" not in page


def test_the_page_begins_with_the_finding_and_ends_with_what_nobody_is_ranked_on(page: str) -> None:
    heads = re.findall(r"<h([1-3])[^>]*>(.*?)</h\1>", page)
    assert heads[0] == ("1", finding_in(page))
    plain = [re.sub("<small>.*</small>", "", text) for _, text in heads]
    assert not [text for text in plain if "medq_deg" in text]
    assert plain[1:4] == ["How far each model falls from clean to severe", "Ranking", "Who is better beyond chance"]
    rankings = page[page.index('id="all-rankings"') :]
    assert rankings.index("Severe degradation (L2)") < rankings.index("Clean images (L0)")
    assert page.index('id="all-rankings"') < page.index('id="published"')
    assert page.count('class="question-card"') == 5 and page.count("Texts of this data are not shown: ") == 1


def finding_in(page: str) -> str:
    found = re.search("<h1>(.*?)</h1>", page)
    assert found
    return found[1]


def test_every_suite_names_its_tasks_and_declares_a_chart_that_can_be_drawn() -> None:
    for place in folders.folders_with_file("board.yml"):
        said = suite_words.suite_texts(place.name)
        assert (
            said.chart
            and said.chart["kind"] in ("ranges", "plane", "heat")
            and said.chart["title"]
            and said.chart["series"]
        ), place
        task = said.columns[0].task
        assert said.name_of(task).lower() != task.removeprefix(f"{said.name}_").replace("_", " "), place


def test_every_headline_has_words_and_is_named_alike_in_a_heading_and_behind_its_number() -> None:
    for place in folders.folders_with_file("board.yml"):
        said = suite_words.suite_texts(place.name)
        head = said.columns[0].task, said.columns[0].metric
        assert said.words_of(*head) == said.heading_of(*head) and "(" not in said.words_of(*head), place
    contributed = suite_words.suite_texts("made_by_others")
    assert contributed.columns[0].metric == "accuracy_ood"  # of a task that tests a shift, the shifted questions
    assert contributed.words_of("words", "accuracy") == ""


def test_a_model_that_the_ranking_lacks_is_named_beside_it(folder: Path, tmp_path: Path, runs: ModuleType) -> None:
    rows = runs.choice_rows({f"q{number:02}": "A" for number in range(4)}, images=IMAGES)
    runs.write(tmp_path / "runs" / "short", {SEVERE: rows}, model="short", limit=4.0, original=IMAGES)
    board = collect_entries([folder, tmp_path / "runs"])
    build_site(board, tmp_path / "site", SiteOptions(resamples=0, reports=False, questions=False))
    said = (tmp_path / "site" / "suites" / "medq_deg.html").read_text("utf-8")
    # "best" has a limited run too, and is ranked by its full one.
    assert 'Run, but not ranked: short. <a href="../index.html#limits">Why</a>' in said


def test_a_card_has_no_answers_to_another_tasks_question_of_the_same_id(tmp_path: Path, runs: ModuleType) -> None:
    """Tasks of a suite may number their questions alike."""
    rows = runs.choice_rows({f"q{number:02}": "A" for number in range(IMAGES)})
    tasks = ("med_cmr_mcq", "med_cmr_mcq_noimage")
    runs.write(tmp_path / "a", dict.fromkeys(tasks, rows), model="a")
    board = collect_entries([tmp_path])
    assert {entry.task for entry in board.of(suite="med_cmr", ranked=True)} == set(tasks)
    build_site(board, tmp_path / "site", SiteOptions(resamples=100, reports=False))
    page = (tmp_path / "site" / "suites" / "med_cmr.html").read_text("utf-8")
    card = re.search(r'<table class="replies">.*?</table>', page, re.S)
    assert card and card[0].count("<tr>") == 1


def test_a_board_of_a_suite_nobody_is_ranked_on_has_its_page(folder: Path, tmp_path: Path) -> None:
    board: Leaderboard = collect_entries([folder / "limited"])
    build_site(board, tmp_path / "site", SiteOptions(resamples=100, reports=False))
    page = (tmp_path / "site" / "suites" / "medq_deg.html").read_text("utf-8")
    assert "no model is ranked yet" in finding_in(page) and "InternVL3" in page


def test_a_headline_that_is_no_mean_counts_no_questions_and_names_the_mean_that_they_tell_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SuiteTexts, "headline_of", lambda self, entries: ("made_up_task", "drop"))
    letters = {"best": "1" * 12, "poor": "10" * 6}
    entries = [replace(of_every_kind(name, "1" * 12, hard), suite="x") for name, hard in letters.items()]
    build_site(board_of(*entries), tmp_path / "site", SiteOptions())
    text = " ".join((tmp_path / "site" / "suites" / "x.html").read_text("utf-8").split())
    assert "<caption>Made up task, drop (points)</caption>" in text
    assert "from the scores of the ranked models (Made up task, accuracy)." in text
    assert '<th scope="col" class="number fewer">drop (points)</th>' in text
    [model] = (tmp_path / "site" / "models").glob("poor*.html")
    row = r'<td class="text">(accuracy|drop|ece)</td>.*<td class="number">(.*)</td></tr>'
    assert dict(re.findall(row, model.read_text("utf-8"))) == {"accuracy": "24", "drop": "–", "ece": "–"}


def test_a_chart_of_one_level_says_nothing_of_a_fall(about: SuiteTexts, standings: BoardStandings) -> None:
    assert about.chart is not None
    declared = {"clean": [[*FIRST]], "severe": [["no_such_task", "accuracy"]]}
    for series, title in ((declared, "How each model does"), ({**declared, "severe": [[*HEAD]]}, about.chart["title"])):
        drawn = suite_chart(replace(about, chart={**about.chart, "series": series}), standings, LINKS, FIRST)
        assert drawn is not None and drawn.chart.title == title and drawn.frame.title.startswith(title)
