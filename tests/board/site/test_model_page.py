"""A model's page: finding, charts beside the field, extremes beyond chance, failures by rule, folded reports."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.collect import collect
from lmms_medtasks.board.model_facts import ModelFacts
from lmms_medtasks.board.site import bullets, failures, model_tables, model_words, strengths
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.bullets import ModelHeadline
from lmms_medtasks.board.site.failures import Failure, SuiteVerdicts
from lmms_medtasks.board.site.strengths import Group
from lmms_medtasks.board.site.write_site import Options, build
from lmms_medtasks.report.charts.bullets import bullet
from lmms_medtasks.report.findings import Finding
from lmms_medtasks.statistics.intervals import Interval

TASK = "medq_deg_l2"
SUITE = "medq_deg"
IMAGES = 40
MODALITIES = ("CT", "MRI")


def answers(model: str) -> dict[str, str]:
    """Six models on eighty questions: ``odd`` knows all of CT and nothing of MRI, the others half of each."""
    names = [f"q{number:02}" for number in range(2 * IMAGES)]
    if model == "odd":
        return {name: "A" if number % 2 == 0 else "B" for number, name in enumerate(names)}
    shift = ord(model[-1]) % 5
    return {name: "A" if (number // 2 + shift) % 4 < 2 else "B" for number, name in enumerate(names)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, runs: ModuleType) -> Path:
    found = tmp_path_factory.mktemp("runs")
    for model in ("odd", "a", "b", "c", "d", "e"):
        rows = []
        for place, modality in enumerate(MODALITIES):
            own = {name: letter for number, (name, letter) in enumerate(answers(model).items()) if number % 2 == place}
            made = runs.choice_rows(own, images=IMAGES, modality=modality)
            for row in made:
                row["questions"]["cluster"] = row["accuracy"]["cluster"] = f"{modality} {row['questions']['cluster']}"
            rows += made
        runs.write(found / model, {TASK: rows}, model=model)
    return found


@pytest.fixture(scope="module")
def board(folder: Path) -> Board:
    return collect([folder])


@pytest.fixture(scope="module")
def standings(board: Board) -> Standings:
    return Standings(board, 100)


def key_of(board: Board, name: str) -> str:
    return next(model.key for model in board.models if model.name == name)


def headline_of(board: Board, standings: Standings, name: str) -> ModelHeadline:
    (found,) = bullets.headlines(model_tables.entries_of(key_of(board, name), board), standings)
    return found


def test_a_headline_has_score_rank_quartiles_of_all_ranked_models_and_guessing(
    board: Board, standings: Standings
) -> None:
    found = headline_of(board, standings, "odd")
    values = sorted(100 * each.mean.estimate for each in standings.of(TASK, "accuracy").values())
    assert (found.value, found.field, found.chance) == (50.0, 6, 25.0)
    assert found.quartiles == pytest.approx(tuple(np.percentile(values, (25, 50, 75))))
    for number in ("50.0 %", "guessing 25.0", "rank", "quartiles of 6 ranked models"):
        assert number in found.said
    assert found.said.replace("'", "&apos;") in found.chart


def test_fewer_than_four_models_have_no_quartiles(board: Board) -> None:
    few = replace(board, entries=tuple(each for each in board.entries if each.model.name in "abc"))
    assert headline_of(few, Standings(few, 100), "a").quartiles is None


def test_places_of_a_bullet_chart_are_in_percent_so_that_text_keeps_its_size() -> None:
    chart = bullet("a <b> 50", (0.0, 200.0), 50.0, (40.0, 60.0), quartiles=(80.0, 100.0, 120.0), chance=20.0)
    assert "viewBox" not in chart and 'width="100%"' in chart
    assert 'cx="25.00%"' in chart and 'x1="20.00%" x2="30.00%"' in chart
    assert 'x="40.00%" width="20.00%"' in chart and 'x1="10.00%" x2="10.00%"' in chart
    assert 'aria-label="a &lt;b&gt; 50"' in chart and "guessing 20.0" in chart


def test_labels_of_a_bullet_chart_do_not_touch() -> None:
    assert ">0<" not in bullet("x", (0.0, 100.0), 50.0, chance=2.0)
    assert ">0<" in bullet("x", (0.0, 100.0), 50.0, chance=50.0)


def test_groups_are_held_against_the_median_of_the_others_and_marked_beyond_chance_only(board: Board) -> None:
    found = strengths.of_task(board.of(task=TASK, ranked=True), "accuracy")
    odd = {group.value: group for group in found[key_of(board, "odd")]}
    assert set(odd) == {"CT", "MRI"}
    assert (odd["CT"].mean, odd["MRI"].mean, odd["CT"].others) == (1.0, 0.0, 5)
    assert odd["CT"].reference == pytest.approx(0.5)
    extremes = strengths.extremes(list(odd.values()), lambda group: frozenset({str(group.value)}))
    assert [group.value for group in extremes.strongest] == ["CT"] and extremes.strongest[0].told_apart
    assert [group.value for group in extremes.weakest] == ["MRI"] and extremes.weakest[0].told_apart
    assert extremes.looked == 2
    plain = strengths.extremes(found[key_of(board, "a")], lambda group: frozenset({str(group.value)}))
    assert not any(group.told_apart for group in (*plain.strongest, *plain.weakest))


def test_where_models_are_few_a_group_is_held_against_the_models_other_questions(board: Board) -> None:
    own = [entry for entry in board.of(task=TASK, ranked=True) if entry.model.name == "odd"]
    groups = strengths.of_task(own, "accuracy")[own[0].model.key]
    assert {(group.value, group.others, group.mean, group.reference) for group in groups} == {
        ("CT", 0, 1.0, 0.0), ("MRI", 0, 0.0, 1.0),
    }  # fmt: skip
    assert all(group.p < 0.001 for group in groups)


def group(value: str, better: float, p: float, others: int = 0) -> Group:
    return Group("t", "tag", value, 9, 9, 0.5 + better, 0.5, others, better, p)


def test_p_values_are_corrected_for_all_groups_that_were_looked_at() -> None:
    groups = [group(str(number), 0.01, 0.04) for number in range(30)]
    found = strengths.extremes([*groups, group("real", 0.2, 1e-6)], lambda each: frozenset({each.value}))
    assert [each.value for each in found.strongest if each.told_apart] == ["real"]
    assert len(found.strongest) == 3 and found.looked == 31


def test_a_group_that_says_the_same_again_is_left_out() -> None:
    ids = {"whole": frozenset("abcdef"), "part": frozenset("abc"), "other": frozenset("xyz")}
    groups = [group("whole", 0.3, 1e-6), group("part", 0.29, 1e-6), group("other", 0.1, 1.0)]
    found = strengths.extremes(groups, lambda each: ids[each.value])
    assert [each.value for each in found.strongest] == ["whole", "other"]


def test_groups_against_others_and_against_the_own_mean_are_not_mixed() -> None:
    found = strengths.extremes([group("own", 0.5, 1e-9), group("field", 0.1, 1e-9, 5)], lambda each: frozenset())
    assert [each.value for each in found.strongest] == ["field"] and found.looked == 1


def test_failures_are_what_most_others_got_right_first(board: Board) -> None:
    verdicts = SuiteVerdicts(SUITE, board.of(suite=SUITE, ranked=True))
    found = verdicts.failures(key_of(board, "odd"))
    assert {each.tags["modality"] for each in found} == {"MRI"} and len(found) == IMAGES
    right = [sum(answers(name)[each.id] == "A" for name in "abcde") for each in found]
    assert [each.right for each in found] == right
    assert [each.step for each in found] == sorted((each.step for each in found), reverse=True)
    assert all(each.others == 5 for each in found)
    assert verdicts.failures("nobody") == []


def failure(id: str, right: int, *, suite: str = "s", cluster: str = "", lost: bool = False, **tags: str) -> Failure:
    return Failure(suite, "t", id, cluster or id, id, 10, right, lost, tags)


def test_failures_are_spread_over_tags_and_a_picture_is_taken_once() -> None:
    found = [
        failure("1", 9, kind="x"), failure("2", 9, kind="x"), failure("3", 9, kind="y"),
        failure("4", 9, cluster="1", kind="z"), failure("5", 8, lost=True, kind="z"),
    ]  # fmt: skip
    assert [each.id for each in failures.chosen({"s": found})] == ["1", "3", "2", "5"]


def test_a_benchmark_has_its_share_of_the_places_and_the_clean_form_counts() -> None:
    many = [failure(f"a{number}", 10, suite="a") for number in range(20)]
    few = [failure("b1", 5, suite="b"), failure("b2", 5, suite="b", lost=True)]
    found = failures.chosen({"a": many, "b": few})
    assert len(found) == failures.SHOWN
    assert [each.id for each in found if each.suite == "b"] == ["b2", "b1"]


def headline(
    title: str, value: float, rank: int | None, low: int = 1, field: int = 4, chance: float = 25.0
) -> ModelHeadline:
    return ModelHeadline(
        title, title, "t", "m", "words", "%", 1, value, value - 3, value + 3, (0.0, 100.0), rank, 1, rank, 4, "", None,
        25.0, None,
    )  # fmt: skip


def test_the_sentence_has_ranks_the_best_benchmark_the_worst_loss_and_guessing() -> None:
    found = [headline("One", 60.0, 1), headline("Two", 80.0, 1), headline("Three", 26.0, 2)]
    change = Interval(-0.2, -0.25, -0.15, 9, 9)
    lost = [
        Finding("Two", (), "", "", "", change=change, under="under snow"),
        Finding("One", (), "", "", "", change=replace(change, estimate=-0.1), under="under rain"),
        Finding("Three", (), "", "", "", change=Interval(-0.5, -1.0, 0.1, 9, 9), under="under fog"),
    ]
    said = model_words.sentence("name", found, lost)
    assert said.startswith("name: rank 1 of 4 on 2 of 3 benchmarks, best on Two (80.0 % [77.0, 83.0])")
    assert "loses 20.0 points [15.0, 25.0] under snow on Two" in said
    assert said.endswith("no better than guessing on Three.")


def test_a_first_rank_that_chance_leaves_open_is_said() -> None:
    open_rank = replace(headline("One", 60.0, 1), worst=3)
    assert "(beyond chance on 1)" in model_words.sentence("name", [open_rank, headline("Two", 80.0, 1)], [])


def test_what_nobody_says_of_a_model_is_said_in_one_line(board: Board) -> None:
    own = model_tables.entries_of(key_of(board, "odd"), board)
    found = model_words.about_model(own, ModelFacts(family="Odd", parameters_b=7.0, open_weights=False))
    assert {"family Odd", "7 billion parameters", "closed weights"} <= set(found.texts)
    assert found.unsaid == ("licence", "release date", "submitter")
    assert not any("unknown" in text for text in found.texts)


@pytest.fixture(scope="module")
def page(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    site = tmp_path_factory.mktemp("out") / "site"
    build(collect([folder / "odd", folder / "a"]), site, Options(resamples=20))
    return next((site / "models").glob("odd*.html")).read_text("utf-8")


def test_the_page_folds_its_report_one_suite_at_a_time_beside_a_tree(page: str) -> None:
    (part,) = re.findall(r'<details class="part" name="report" id="([^"]+)">', page)
    assert f'<details data-part="{part}">' in page
    assert "<svg" in page[page.index("Score on each benchmark") :]
    folded = page[page.index('name="report"') :]
    assert folded.count("<table") > 3 and "published, Table" not in folded


def test_the_page_has_ten_failures_each_with_its_address_and_the_groups_link_to_their_questions(page: str) -> None:
    assert page.count('<article class="question-card">') == failures.SHOWN
    assert len(set(re.findall(rf"\.\./questions/{SUITE}\.html#{TASK}/q\d\d", page))) == failures.SHOWN
    assert f"../questions/{SUITE}.html?task={TASK}&amp;tag=modality:MRI&amp;model=odd" in page
