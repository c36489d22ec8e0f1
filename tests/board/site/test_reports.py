"""The suites' reports on a board: the comparison of a suite's models is of every ranked entry and of no other one."""

import json
import shutil
from dataclasses import replace

import pytest

from lmms_medtasks.board.collect import collect
from lmms_medtasks.board.site import reports
from lmms_medtasks.board.site.ranking import rank
from lmms_medtasks.board.site.write_site import Options, build


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


def of_folder(folder, dependencies=None):
    """The reports of the runs of a folder, with parts in place of their HTML; ``dependencies``: by model, of parts."""

    def body(model, planned, made_of, cache):
        if dependencies is not None:
            dependencies.setdefault(model, []).append(made_of)
        return replace(planned.make(), title=planned.title)

    return reports.of_suite("medq_deg", collect([folder]).of(suite="medq_deg"), body, 20)


@pytest.fixture(scope="module")
def of_suite(folder):
    return of_folder(folder)


def shown(part):
    return {table.key: [[cell.value for cell in row.cells] for row in table.rows]
            for section in part.sections for table in section.tables}  # fmt: skip


def test_a_limited_run_of_another_task_takes_nothing_of_its_model_with_it(folder, of_suite):
    board = collect([folder])
    assert {(entry.model.name, entry.task, entry.ranked) for entry in board.entries} == {
        ("a", "medq_deg", True), ("b", "medq_deg", True), ("a", "medq_deg_calib", False),
    }  # fmt: skip
    ranked = board.of(task="medq_deg", ranked=True)
    places = rank(ranked, "accuracy_l0", higher_is_better=True, resamples=20).standings
    # Six images: means, and no ranks.
    placed = zip(ranked, places, strict=True)
    assert {entry.model.name: (place.mean.estimate, place.rank) for entry, place in placed} == {
        "a": (pytest.approx(5 / 6), None), "b": (pytest.approx(2 / 6), None),
    }  # fmt: skip
    (comparison,) = of_suite.comparison.parts
    # Five of six right, and two of six: the limited run's two questions are in no row.
    assert [row[:2] for row in shown(comparison)["models"]] == [
        ["a (our degradations, 2 trials)", pytest.approx(500 / 6)],
        ["b (our degradations, 2 trials)", pytest.approx(200 / 6)],
    ]  # fmt: skip
    said = [flag.text for flag in comparison.flags if flag.kind == "note" and "a (medq_deg_calib)" in flag.text]
    assert len(said) == 1


def test_its_own_report_still_has_every_run_of_it(of_suite):
    assert {key.partition("|")[0]: len(each.parts) for key, each in of_suite.models.items()} == {"a": 2, "b": 1}


def test_the_page_of_the_suite_has_the_comparison(folder, tmp_path):
    build(collect([folder]), tmp_path / "site", Options(resamples=20))
    page = (tmp_path / "site" / "suites" / "medq_deg.html").read_text("utf-8")
    assert "a (our degradations, 2 trials)" in page and "b (our degradations, 2 trials)" in page
    assert "Models are compared where the runs of two or more are there" not in page


def test_a_comparison_depends_on_all_runs_and_a_models_part_on_its_own(folder, write, rows_of, tmp_path):
    own = tmp_path / "runs"
    shutil.copytree(folder, own)

    def dependencies():
        found = {}
        of_folder(own, found)
        return {model.partition("|")[0]: each for model, each in found.items()}

    first = dependencies()
    assert dependencies() == first and first.keys() == {"a", "b", ""}
    write(own / "b", "b", "ABBABA", tasks={"medq_deg": rows_of["medq_deg"]})
    changed = dependencies()
    assert [changed[model] == first[model] for model in ("a", "b", "")] == [True, False, False]
    write(own / "c", "c", "ABBBBB", tasks={"medq_deg": rows_of["medq_deg"]})
    added = dependencies()
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
    found = of_folder(own)
    said = {key.partition("|")[0]: (len(each.parts), each.reason) for key, each in found.models.items()}
    assert said["a"][0] == 2 and said["b"][0] == 1
    assert said["c"][0] == 0 and "can't be made of what the log holds (AttributeError" in said["c"][1]
    (comparison,) = found.comparison.parts
    assert [row[0][0] for row in shown(comparison)["models"]] == ["a", "b"]
    assert any("no report of it: c." in flag.text for flag in comparison.flags)
    build(collect([own]), tmp_path / "site", Options(resamples=20))
