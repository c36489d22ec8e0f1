"""The suites' reports on a board: the comparison of a suite's models is of every ranked entry and of no other one."""

import json
import shutil
from dataclasses import dataclass, field, replace

import pytest

from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.site.board_tables import BoardStandings
from lmms_medtasks.board.site.ranking import rank_models
from lmms_medtasks.board.site.reports import SuiteReports
from lmms_medtasks.board.site.write_site import SiteOptions, build_site
from lmms_medtasks.build_cache import BuildCache
from lmms_medtasks.errors import UserError


@pytest.fixture(scope="module")
def folder(tmp_path_factory, write, rows_of):
    """Models a and b on the whole of MedQ-Deg, a the better one; and a limited run of a on another of its tasks."""
    found = tmp_path_factory.mktemp("runs")
    whole = {"medq_deg": rows_of["medq_deg"]}
    write(found / "a", "a", "AAAAAB", tasks=whole)
    write(found / "b", "b", "ABBABB", tasks=whole)
    part = {"medq_deg_calib": whole["medq_deg"]}
    write(found / "limited", "a", "AB", tasks=part, limit=2.0, original=18)
    return found


@dataclass(frozen=True)
class Recording(BuildCache):
    """Keeps nothing, and names what would be kept."""

    asked: list = field(default_factory=list)

    def kept(self, made_of, make, written, read):
        self.asked.append(made_of)
        return make()


class Made:
    """The reports of the runs of a folder, with parts in place of their HTML."""

    def __init__(self, folder):
        board = collect_entries([folder])
        self.names = {model.key: model.name for model in board.models}
        self.cache = Recording()
        reports = SuiteReports(BoardStandings(board, 20).titles, 20, (folder,), self.cache)
        self.comparison = reports.comparison("medq_deg", board.of(suite="medq_deg"), lambda part: part)
        self.pages, self.reasons = {}, {}
        for key, name in self.names.items():
            try:
                self.pages[name] = reports.page([each for each in board.entries if each.model.key == key], "home.html")
            except UserError as error:
                self.reasons[name] = str(error)

    @property
    def made_of(self):
        """What a model's page, and the comparison (""), depend on."""
        asked = [each for each in self.cache.asked if each[0] in ("report", "comparison")]
        return {each[2] if each[0] == "report" else "": each for each in asked}


@pytest.fixture(scope="module")
def made(folder):
    return Made(folder)


def shown(part):
    return {table.key: [[cell.value for cell in row.cells] for row in table.rows]
            for section in part.sections for table in section.tables}  # fmt: skip


def test_a_limited_run_of_another_task_takes_nothing_of_its_model_with_it(folder, made):
    board = collect_entries([folder])
    assert {(entry.model.name, entry.task, entry.ranked) for entry in board.entries} == {
        ("a", "medq_deg", True), ("b", "medq_deg", True), ("a", "medq_deg_calib", False),
    }  # fmt: skip
    ranked = board.of(task="medq_deg", ranked=True)
    places = rank_models(ranked, "accuracy_l0", resamples=20).standings
    # Six images: means, and no ranks.
    placed = zip(ranked, places, strict=True)
    assert {entry.model.name: (place.mean.estimate, place.rank) for entry, place in placed} == {
        "a": (pytest.approx(5 / 6), None), "b": (pytest.approx(2 / 6), None),
    }  # fmt: skip
    (comparison,) = made.comparison.parts
    # Five of six right, and two of six: the limited run's two questions are in no row.
    assert [row[:2] for row in shown(comparison)["models"]] == [
        ["a (our degradations, 2 trials)", pytest.approx(500 / 6)],
        ["b (our degradations, 2 trials)", pytest.approx(200 / 6)],
    ]  # fmt: skip


def test_its_own_report_still_has_every_run_of_it_and_compares_two(made):
    assert {name: text.count('<article class="part"') for name, text in made.pages.items()} == {"a": 3, "b": 1}


def test_the_page_of_the_suite_has_the_comparison(folder, tmp_path):
    build_site(collect_entries([folder]), tmp_path / "site", SiteOptions(resamples=20))
    page = (tmp_path / "site" / "suites" / "medq_deg.html").read_text("utf-8")
    assert "a (our degradations, 2 trials)" in page and "b (our degradations, 2 trials)" in page
    assert "Models are compared where at least two have runs here" not in page


def test_a_comparison_depends_on_all_runs_and_a_models_part_on_its_own(folder, write, rows_of, tmp_path):
    own = tmp_path / "runs"
    shutil.copytree(folder, own)

    first = Made(own).made_of
    assert Made(own).made_of == first and first.keys() == {"a", "b", ""}
    write(own / "b", "b", "ABBABA", tasks={"medq_deg": rows_of["medq_deg"]})
    changed = Made(own).made_of
    assert [changed[model] == first[model] for model in ("a", "b", "")] == [True, False, False]
    write(own / "c", "c", "ABBBBB", tasks={"medq_deg": rows_of["medq_deg"]})
    added = Made(own).made_of
    assert [added[model] == changed[model] for model in ("a", "b", "")] == [True, True, False]


def test_a_log_that_no_report_can_be_made_of_ends_neither_the_build_nor_the_comparison(
    folder, write, rows_of, tmp_path
):
    """A stranger's tag of another kind did, in an entry that was not even ranked."""
    own = tmp_path / "runs"
    shutil.copytree(folder, own)
    write(own / "c", "c", "ABBBBB", tasks={"medq_deg": rows_of["medq_deg"]})
    (results,) = (own / "c").glob("*_results.json")
    content = json.loads(results.read_text("utf-8"))
    content["configs"]["medq_deg"]["generation_kwargs"] = "none"
    results.write_text(json.dumps(content), "utf-8")
    found = Made(own)
    assert set(found.pages) == {"a", "b"}
    assert "MedQ-Deg: It can't be made of what the log holds (AttributeError" in found.reasons["c"]
    (comparison,) = found.comparison.parts
    assert [row[0][0] for row in shown(comparison)["models"]] == ["a", "b"]
    assert any("no report of it: c." in flag.text for flag in comparison.flags)
    build_site(collect_entries([own]), tmp_path / "site", SiteOptions(resamples=20))
    (page,) = (tmp_path / "site" / "models").glob("c-*.html")
    assert "There is no report: MedQ-Deg: It can" in page.read_text("utf-8")


def test_what_one_benchmark_of_a_model_breaks_leaves_its_other_reports(folder, write, rows_of, tmp_path):
    write(tmp_path / "deg", "a", "AAAAAB", tasks={"medq_deg": rows_of["medq_deg"]})
    write(tmp_path / "odd", "a", "AAAAAB", tasks={"medobvious": rows_of["medobvious"]})
    (results,) = (tmp_path / "deg").glob("*_results.json")
    content = json.loads(results.read_text("utf-8"))
    content["configs"]["medq_deg"]["generation_kwargs"] = "none"
    results.write_text(json.dumps(content), "utf-8")
    text = Made(tmp_path).pages["a"]
    assert "Left out:</b> MedQ-Deg: It can" in text and 'aria-label="MedObvious"' in text


def test_a_submission_has_no_report_and_the_reason_is_said(folder):
    own = [replace(each, source=replace(each.source, samples=None)) for each in collect_entries([folder]).entries]
    with pytest.raises(UserError, match="a submission has a score for each question"):
        SuiteReports({each.model.key: "a" for each in own}).page(own, "home.html")
    assert "at least two have runs" in SuiteReports({}).comparison("medq_deg", own, lambda part: part).reason


def test_a_model_has_one_name_and_no_folder_of_this_machine(folder, made):
    board = collect_entries([folder])
    own = [each for each in board.entries if each.model.name == "a"]
    titles = {each.model.key: "the name, of (the) board" for each in own}
    text = SuiteReports(titles, 20, (folder,)).page(own, "home.html")
    assert '<a href="home.html">← the name, of (the) board</a>' in text
    assert '<li class="strong">the name, of (the) board</li>' in text and str(folder) not in text


def test_of_two_runs_of_a_model_it_is_said_where_each_lies_below_the_folders_that_were_given(write, rows_of, tmp_path):
    roots = (tmp_path / "first", tmp_path / "second")
    for root, answers in zip(roots, ("AAAAAB", "ABBABB"), strict=True):
        write(root / "a", "a", answers, tasks={"medq_deg": rows_of["medq_deg"]})
    own = list(collect_entries(roots).entries)
    text = SuiteReports({own[0].model.key: "a"}, 20, roots).page(own, "home.html")
    assert "shown is first/a. second/a has other numbers" in text and str(tmp_path) not in text
