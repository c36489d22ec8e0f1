"""The first screen says what was found with its interval, and which checks fail."""

from __future__ import annotations

import html
import io
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console
from rich.text import Text

from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.report.document import MARKS, Cell
from lmms_medtasks.report.findings import Change, Number, SuiteFinding
from lmms_medtasks.report.first_screen import (
    FirstScreen,
    ModelFindings,
    _Kept,
    best_models,
    best_sentence,
    leader_sentence,
)
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.report.markdown import render_markdown
from lmms_medtasks.report.quotable import QuotabilityCheck, quotability_verdict
from lmms_medtasks.report.report_page import SuiteGroup, breakable_markup, no_break_markup, render_html
from lmms_medtasks.report.terminal import WIDTH, first_screen_lines, print_report, wrap_text
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.intervals import IntervalEstimate
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.task_configs.medq_deg import report as medq_report

QUICK = ReportOptions(resamples=0, drawn=False)


def screen_of(models):
    return FirstScreen(facts=(), models=models, checks=(), sentences={})


def screen(document):
    return [line.plain for line in first_screen_lines(document.first, document.title)]


def asked(number, severity, degradation, score):
    name = f"q{number}/{degradation}"
    return {
        "id": name, "cluster": f"i{number}", "pair": f"q{number}", "severity": severity, "degradation": degradation,
        "expected": "A", "trials": ["A"], "accuracy.score": score, "accuracy.asked": True,
    }  # fmt: skip


def test_the_worst_degradations_are_those_that_cost_most():
    """Not those of the hardest questions: "fog" has 0 % and lost nothing, "rain" 50 % and lost 50 points."""
    rows = [asked(number, 0, None, float(number >= 20)) for number in range(60)]
    rows += [asked(number, 2, "fog_bank", 0.0) for number in range(20)]
    rows += [asked(number, 2, "heavy_rain", float(number % 2)) for number in range(20, 40)]
    rows += [asked(number, 2, "too_few", 0.0) for number in range(40, 59)]
    table = QuestionTable.of_rows(rows)
    source = SimpleNamespace(rows=table, derived=lambda transform: SimpleNamespace(rows=transform(table)))
    assert medq_report.worst_group(source, 2) == ["heavy rain (by 50.0 points)"]


def test_a_line_that_is_wrapped_keeps_its_text_and_its_blanks():
    (text,) = [Text("word " * 30 + "x" * 250 + " end (30.8\u00a0%) and end")]
    shown = [line.plain for line in wrap_text(text, indent=2)]
    assert max(map(len, shown)) <= WIDTH
    assert "".join("".join(shown).split()) == "".join(text.plain.split())
    assert all(len(line) > 2 for line in shown) and not any("  " in line.strip() for line in shown)
    full = [line for line in shown if set(line.strip()) == {"x"}]
    assert all(len(line) == WIDTH for line in full[:-1])


@pytest.fixture
def document(write_run, any_share_read):
    return build_report([write_run()], QUICK)


def test_numbers_are_those_of_the_tables(document):
    (model,) = document.first.models
    (finding,) = model.findings
    values = {bar.title: bar.cell.value for bar in finding.bars}
    levels = next(table for _, table in document.tables() if table.key == "levels")
    assert list(values.values()) == [row.cells[2].value for row in levels.rows]
    # Four options and two: (1/4 + 1/2) / 2 = 0.375.
    assert finding.bars[0].chance == pytest.approx(37.5)
    assert finding.bars[0].published == pytest.approx((42.92, 74.03), abs=5)


@pytest.mark.parametrize(("length", "names"), [(10_000, "a"), (80, "a"), (80, "abcde")])
def test_a_long_name_leaves_the_screen_one_screen_of_a_hundred_columns(write_run, length, names):
    runs = [write_run(name, model="a" * length + name, metadata={"data": "mini"}) for name in names]
    shown = screen(build_report(runs, QUICK))
    assert len(shown) < 40 and max(map(len, shown)) <= WIDTH


def test_terminal_shows_the_screen_and_all_tables_on_demand(document):
    shown = {}
    for everything in (False, True):
        console = Console(width=200, file=io.StringIO(), force_terminal=False)
        print_report(document, console, everything=everything)
        shown[everything] = console.file.getvalue()
    assert "May these numbers be quoted?" in shown[False]
    assert "What became of the replies" not in shown[False]
    assert shown[True].startswith(shown[False][:200])
    assert "What became of the replies" in shown[True]


@pytest.mark.usefixtures("any_share_read")
def test_mini_data_and_limits_are_no_reason_to_quote(write_run):
    first = build_report([write_run(metadata={"data": "mini"}, original=9)], QUICK).first
    states = {check.title: check.state for check in first.checks}
    assert states["full data"] == "no"
    assert states["complete"] == "no"
    assert first.verdict == "Not yet. Missing: full data, complete."


@pytest.mark.usefixtures("any_share_read")
def test_settings_that_are_not_the_tasks_own_are_said_before_a_number_is_quoted(write_run):
    changed = {"changed_by_options": {"generation": {"temperature": [0.7, 0]}}}
    first = build_report([write_run(metadata=changed)], QUICK).first
    check = next(check for check in first.checks if check.title == "the task's settings")
    assert (check.state, check.reason) == ("partly", "asked with temperature=0 instead of 0.7")
    assert check.title in first.verdict and first.verdict != "Yes."
    own = build_report([write_run(name="own")], QUICK).first
    assert check.title not in {each.title for each in own.checks}


def test_every_form_has_the_verdict(document):
    for text in (render_markdown(document), html.unescape(render_html(document))):
        assert document.first.verdict in text
        assert "clean images" in text


def test_a_benchmark_that_was_run_and_has_no_headline_has_a_box_that_says_why(document):
    shown = replace(document, first=replace(document.first, empty={"Other": "Not judged: no number yet."}))
    for text in ("\n".join(screen(shown)), render_markdown(shown), html.unescape(render_html(shown))):
        assert "Not judged: no number yet." in text


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (["yes", "yes"], "Yes."),
        (["yes", "partly"], "With care. Partly met: b."),
        (["no", "partly"], "Not yet. Missing: a."),
    ],
)
def test_verdict_is_that_of_the_worst(states, said):
    assert (
        quotability_verdict([QuotabilityCheck(name, state, "") for name, state in zip("ab", states, strict=True)])
        == said
    )


def bar(value, low, high, chance, higher=True):
    return Number("of", cell=Cell(value, low, high), chance=chance, higher_is_better=higher)


def finding(suite, chance, *changes):
    made = replace(bar(50.0, 40.0, 60.0, chance), words=f"on {suite}")
    return SuiteFinding(suite, (made,), f"what {suite} asks", changes)


@pytest.mark.usefixtures("any_share_read")
def test_a_trial_of_few_questions_is_called_one_in_the_first_words(write_run):
    document = build_report([write_run(original=9)], QUICK)
    (model,) = document.first.models
    assert model.sentence.startswith("Trial of 2 questions a task: ")
    assert all("(trial of 2 questions a task)." in each.loss for each in model.findings)
    assert all(text.startswith("Trial of 2 questions a task: ") for text in document.first.sentences.values())
    whole_run = build_report([write_run("whole")], QUICK).first.models[0]
    assert "Trial" not in whole_run.sentence


def test_which_of_two_runs_of_a_model_is_shown_and_how_the_other_differs(write_run, tmp_path):
    wrong = {level: {"q1": "B", "q2": "B"} for level in range(3)}
    runs = [
        write_run("before"),
        write_run("after", trials=wrong, metadata={"data_digest": "0ther"}, date="20270101_000000"),
    ]
    document = build_report(runs, QUICK)
    (said,) = document.first.others
    assert f"shown is {tmp_path / 'before'}. {tmp_path / 'after'} has " in said
    assert said.endswith("has other numbers.")  # the first run did not record what it read
    for text in (
        "".join(line.strip() for line in screen(document)),
        render_markdown(document),
        html.unescape(render_html(document)),
    ):
        assert "shown is" in text
    assert build_report(runs[:1], QUICK).first.others == ()


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ({"metadata": {"data_digest": "a"}}, {"metadata": {"data_digest": "b"}}, "data."),
        ({}, {"metadata": {"own_prompt": {"name": "mine.txt", "digest": "1a2b"}}}, "settings."),
        (
            {"arguments": "pretrained=m,dtype=float16"},
            {"arguments": "pretrained=m,dtype=bfloat16"},
            "model arguments (dtype=bfloat16).",
        ),
    ],
)
def test_how_two_runs_of_one_model_differ_is_said(write_run, one, other, said):
    document = build_report([write_run("one", **one), write_run("two", date="20270101_000000", **other)], QUICK)
    assert document.first.others[0].endswith(f"has other {said}")
    flags = [flag.text for flag in document.parts[0].flags if flag.kind == "warning"]
    apart = any(text.startswith("Rows here are of different data, and do not compare: medq_deg_l0") for text in flags)
    assert apart == (said == "data.")


def first_of(*bars):
    models = tuple(
        ModelFindings(name, (SuiteFinding("suite", (each,), ""),)) for name, each in zip("mn", bars, strict=False)
    )
    return screen_of(models)


@pytest.mark.parametrize("count", [1, 2])
def test_terminal_says_scale_direction_and_what_marks_mean(count):
    made = Number("stars", "x", unit="of 5", top=5.0, higher_is_better=False, bottom=1.0, cell=Cell(3.456, mark="‖"))
    (row,) = [line.plain for line in first_screen_lines(first_of(*[made] * count), "t") if "stars" in line.plain]
    assert row.startswith("suite            stars, 1 to 5 ↓")
    assert row.count("3.46‖") == count
    assert any(line.plain.startswith("‖ No interval") for line in first_screen_lines(first_of(*[made] * count), "t"))


@pytest.mark.parametrize(("published", "said"), [(None, 0), ((86.8, 87.2), 2)])
def test_terminal_has_a_column_of_published_models_where_there_are_some(published, said):
    made = Number("knowledge", cell=Cell(90.0), published=published)
    lines = [line.plain for line in first_screen_lines(first_of(made), "t")]
    assert sum("published" in line for line in lines) == said
    assert any(line.endswith(" 87") for line in lines) is bool(said)


def test_several_models_keep_their_intervals_and_the_arrow_is_explained():
    bar = Number("false alarms", cell=Cell(100.0, 62.1, 100.0, "◊"), higher_is_better=False)
    models = tuple(ModelFindings(f"m{place}", (SuiteFinding("suite", (bar,), ""),)) for place in range(7))
    said = [line.plain for line in first_screen_lines(screen_of(models), "t")]
    assert max(map(len, said)) <= WIDTH and sum(line.count("[62.1, 100.0]") for line in said) == 4
    assert "↓ less is better" in said


def test_one_number_is_no_plural():
    assert leader_sentence([""]).endswith("in the one number that several of these models have: none.")


def test_one_task_is_one_task(write_run):
    small = write_run("small", model="m", levels=[2], date="20260102_000000")
    first = build_report([small], QUICK).first
    assert first.facts[0] == "1 task"


def test_of_as_many_questions_the_tasks_that_a_leaderboard_ranks_first_count():
    """A run that asked MedQ-Deg as one task, as one a level, and ten times each."""
    sets = (("medq_deg_calib",), ("medq_deg_l0", "medq_deg_l1", "medq_deg_l2"), ("medq_deg",), ("medq_deg_noimage",))
    places = [medq_report.HEADLINE.place(tasks) for tasks in sets]
    assert places == [2, 1, 0, 3]
    kept = [_Kept(SimpleNamespace(rows=range(9)), replace(finding("S", 20.0), place=place)) for place in places]
    assert max(kept, key=lambda each: each.rests_on).finding.place == 0
    assert kept[0]._replace(source=SimpleNamespace(rows=range(10))).rests_on > kept[2].rests_on


def test_what_a_model_loses_stands_in_a_line_a_benchmark_in_the_terminal():
    change = Change(IntervalEstimate(-0.2, -0.3, -0.1, 9, 9), "under x", "in fog")
    alone = screen_of((ModelFindings("a", (finding("S", 20.0, change),)),))
    shown = [line.plain for line in first_screen_lines(alone, "one model")]
    assert "S loses 20.0 points [10.0, 30.0] under x, most in fog." in shown


def test_mends_are_of_use(write_run):
    checks = {
        each.title: each
        for each in build_report([write_run(metadata={"data": "mini"})], ReportOptions(drawn=False)).first.checks
    }
    assert checks["full data"].mend == "lmms-medtasks data prepare medq_deg"
    # What --settings paper changes in MedQ-Deg is nothing.
    assert checks["the paper's protocol"].state == "partly"
    assert checks["the paper's protocol"].reason.startswith("differs: MedQ-Deg (")
    assert checks["the paper's protocol"].mend == ""


def test_date_is_in_utc_where_the_run_says_its_zone(write_run):
    """A plain lmms-eval run is named by the time in Singapore: 01:56 there is the day before in UTC."""
    run = write_run(date="20260102_015602")
    (path,) = run.glob("*_results.json")
    content = json.loads(path.read_text())
    content["config"]["resolved_cli_args"] = {"timezone": "Asia/Singapore"}
    path.write_text(json.dumps(content))
    assert "2026-01-01" in build_report([run], QUICK).first.facts


def test_worst_score_of_a_scale_from_1_to_5_is_an_empty_bar():
    made = Number("stars", "x", unit="of 5", bottom=1.0, top=5.0, cell=Cell(1.0, 1.0, 1.0))
    (row,) = [line.plain for line in first_screen_lines(first_of(made), "t") if "stars" in line.plain]
    assert "█" not in row
    assert [made.place(value) for value in (0.0, 1.0, 3.0, 5.0)] == [0.0, 0.0, 0.5, 1.0]


def test_run_whose_requests_all_failed_is_not_to_be_quoted(write_run):
    trials = {level: {"q1": "!!", "q2": "!!"} for level in range(3)}
    document = build_report([write_run(trials=trials)], QUICK)
    states = {check.title: check.state for check in document.first.checks}
    assert states["complete"] == "no"
    assert "independent trials" not in states
    for text in ("\n".join(screen(document)), render_markdown(document), html.unescape(render_html(document))):
        assert document.first.no_finding in text
    assert 'class="key"' not in render_html(document)


def test_of_many_models_the_best_are_named_and_the_others_are_folded_and_points():
    """Best by mean place: c is first in accuracy and has the fewest alarms, e is last in both."""

    def model(name, accuracy, alarms):
        bars = (bar(accuracy, None, None, 20.0), replace(bar(alarms, None, None, None, False), title="alarms"))
        return ModelFindings(name, (replace(finding("S", 20.0), bars=bars),))

    numbers = {"a": (50.0, 30.0), "b": (40.0, 40.0), "c": (90.0, 10.0), "d": (60.0, 20.0), "e": (30.0, 60.0)}
    models = tuple(model(name, *each) for name, each in numbers.items())
    many, few = (screen_of(each) for each in (models, models[:4]))
    assert [each.model for each in many.named] == ["c", "d", "a"]
    assert [each.model for each in many.folded] == ["b", "e"]
    assert [each.model for each in few.named] == ["c", "d", "a", "b"] and few.folded == ()
    group = SuiteGroup("suite-1", "S", (), tuple((each.model, each.findings[0]) for each in models), alone=False)
    named, others = group.bars("alarms")
    assert ([name for name, _ in named], [name for name, _ in others]) == (["c", "d", "a"], ["b", "e"])


def test_a_model_that_was_asked_one_benchmark_or_guesses_heads_none_that_beat_guessing_everywhere():
    """e has the best number of S and none of T; g the best of T, and is below guessing at S."""

    def found(suite, value, chance=20.0):
        return replace(finding(suite, 20.0), bars=(bar(value, value - 1, value + 1, chance),))

    whole = [ModelFindings(name, (found("S", 50.0 - n), found("T", 50.0 - n))) for n, name in enumerate("ab")]
    e, g = (ModelFindings("e", (found("S", 90.0),)), ModelFindings("g", (found("S", 95.0, 99.0), found("T", 99.0))))
    screen = screen_of((g, e, *whole))
    assert [each.model for each in (*screen.named, *screen.folded)] == ["a", "b", "e", "g"]


def best_of(mark="", images=12, **wrong):
    """By model the number of questions, one an image, that are wrong of ``images``: who is best at them, and of all."""

    def made(count):
        rows = [
            {"id": f"q{n:02}", "cluster": f"i{n:02}", "accuracy.score": float(n >= count), "accuracy.asked": True}
            for n in range(images)
        ]
        value = 100 * (1 - count / images)
        cell = Cell(value, value - 1, value + 1, mark)
        own = Number("pictures", estimate=Mean(), cell=cell, rows=QuestionTable.of_rows(rows))
        return SuiteFinding("S", (own, replace(own, title="x, y", rows=None)), "")

    best = best_models({name: made(count) for name, count in wrong.items()})
    return best_sentence(best), leader_sentence([*best.values()])


def test_who_is_best_is_said_by_the_test_of_ranks_on_the_same_questions():
    """Intervals of 2 points that overlap nowhere are no test: one question of 12 makes nobody best."""
    said, leader = best_of(a=0, b=11)
    assert said == 'a is best at pictures; none is best at "x, y".'
    assert leader == "Better than every other beyond chance: a in 1 of 2 numbers that several of these models have."
    said, leader = best_of(a=0, b=1)
    assert said == 'none is best at pictures and "x, y".'
    assert (
        leader == "Better than every other beyond chance: none in any of 2 numbers that several of these models have."
    )
    # b is not told apart from a; fewer than ten images are not tested.
    assert "a is best" not in best_of(a=0, b=1, c=11)[0] + best_of(images=9, a=0, b=9)[0] + best_of(a=0, b=0)[0]
    # By a judge that compares words nobody is best. Nor where one model has numbers.
    assert best_of(LEXICAL, a=0, b=11)[1] == best_of(a=0)[1] == ""


@pytest.mark.usefixtures("any_share_read")
def test_the_screen_of_several_models_says_who_is_best_at_each_benchmark(write_run):
    wrong = {level: {"q1": "B", "q2": "B"} for level in range(3)}
    runs = [write_run("one", model="one"), write_run("two", model="two", trials=wrong)]
    document = build_report(runs, QUICK)
    assert document.first.best["MedQ-Deg"].startswith("none is best at clean images (L0)")
    for text in (
        " ".join(line.strip() for line in screen(document)),
        render_markdown(document),
        html.unescape(render_html(document)),
    ):
        assert "is best at clean images" in text
    assert build_report(runs[:1], QUICK).first.best == {}
    other = [write_run(name, model=name, metadata={"data_digest": name}) for name in ("three", "four")]
    assert "no model is called the best" in build_report(other, ReportOptions(drawn=False)).first.best["MedQ-Deg"]


@pytest.mark.usefixtures("any_share_read")
def test_one_model_has_a_chart_for_its_question_and_several_have_bars(write_run):
    runs = [write_run(name, model=name) for name in ("one", "two")]
    alone, both = (render_html(build_report(each, ReportOptions(resamples=0))) for each in (runs[:1], runs))
    assert alone.count('<figure class="sketch">') == 1 and '<div class="bars">' not in alone
    assert '<figure class="sketch">' not in both and '<div class="bars">' in both
    assert "correct (%); grey: 40 published models, on the paper's data" in html.unescape(alone)


def test_no_line_of_a_sentence_ends_between_a_number_and_its_percent_sign():
    assert no_break_markup("<b> 91 % of 100 %, 5 points") == "&lt;b&gt; 91\u00a0% of 100\u00a0%, 5 points"
    assert no_break_markup("q-1 by -2.5 [-10.7, 1.0]") == "q-1 by \u22122.5 [\u221210.7,\u00a01.0]"


def test_lines_of_a_name_end_behind_a_sign():
    assert breakable_markup("medtasks_most_frequent") == "medtasks_<wbr>most_<wbr>frequent"
    assert breakable_markup("a/<b>-3.5B__") == "a/<wbr>&lt;b&gt;-<wbr>3.5B__"


def test_no_sign_of_a_number_has_two_meanings():
    """¶ meant "no interval" and "a judge that compares words", and the wrong one was printed."""
    assert not set(MEANINGS) & set(MARKS)
    judged = replace(bar(96.0, 81.7, 99.7, None), cell=Cell(96.0, 81.7, 99.7, LEXICAL + "#"))
    models = (ModelFindings("m", (replace(finding("S", None), bars=(judged,)),)),)
    assert screen_of(models).marks == {sign: MEANINGS[sign] for sign in (LEXICAL, "#")}
