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

from lmms_medtasks.report import Options, best_models, build
from lmms_medtasks.report.document import MARKS, Cell
from lmms_medtasks.report.findings import Bar, Finding, lost, shown, titles, whole
from lmms_medtasks.report.first_screen import FirstScreen, ModelFindings, _headline_place, _Kept
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.report.markdown import markdown
from lmms_medtasks.report.quotable import Check, verdict
from lmms_medtasks.report.report_page import Group, breakable, page, unbroken
from lmms_medtasks.report.terminal import show
from lmms_medtasks.report.terminal_first_screen import WIDTH, lines, wrapped
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.intervals import FEW, Interval
from lmms_medtasks.task_configs.medq_deg import report_finding
from lmms_medtasks.task_configs.medq_deg.measures import SUITE


def screen(document):
    return [line.plain for line in lines(document.first, document.title)]


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
    table = Samples.of_rows(rows)
    source = SimpleNamespace(rows=table, derived=lambda transform: SimpleNamespace(rows=transform(table)))
    assert report_finding.worst(source, 2) == ["heavy rain (by 50.0 points)"]


def test_a_long_name_leaves_the_screen_one_screen(write_run):
    found = build([write_run(model="a" * 10_000, metadata={"data": "mini"})], Options(resamples=0, drawn=False))
    shown = screen(found)
    assert len(shown) < 40 and max(map(len, shown)) <= WIDTH


def test_a_line_that_is_wrapped_keeps_its_text_and_its_blanks():
    (text,) = [Text("word " * 30 + "x" * 250 + " end (30.8\u00a0%) and end")]
    shown = [line.plain for line in wrapped(text, indent=2)]
    assert max(map(len, shown)) <= WIDTH
    assert "".join("".join(shown).split()) == "".join(text.plain.split())
    assert all(len(line) > 2 for line in shown) and not any("  " in line.strip() for line in shown)
    full = [line for line in shown if set(line.strip()) == {"x"}]
    assert all(len(line) == WIDTH for line in full[:-1])


@pytest.fixture
def document(write_run, any_share_read):
    return build([write_run()], Options(resamples=0, drawn=False))


def test_numbers_are_those_of_the_tables(document):
    (model,) = document.first.models
    (finding,) = model.findings
    values = {bar.title: bar.cell.value for bar in finding.bars}
    levels = next(table for _, table in document.tables() if table.key == "levels")
    assert list(values.values()) == [row.cells[3].value for row in levels.rows]
    # Four options and two: (1/4 + 1/2) / 2 = 0.375.
    assert finding.bars[0].chance == pytest.approx(37.5)
    assert finding.bars[0].published == pytest.approx((42.92, 74.03), abs=5)


def test_no_line_is_wider_than_a_hundred_columns(write_run):
    runs = [write_run(name, model="a" * 80 + name, metadata={"data": "mini"}) for name in "abcde"]
    for found in (build(runs[:1], Options(resamples=0, drawn=False)), build(runs, Options(resamples=0, drawn=False))):
        assert max(map(len, screen(found))) <= WIDTH


def test_terminal_shows_the_screen_and_all_tables_on_demand(document):
    shown = {}
    for everything in (False, True):
        console = Console(width=200, file=io.StringIO(), force_terminal=False)
        show(document, console, everything=everything)
        shown[everything] = console.file.getvalue()
    assert "May these numbers be quoted?" in shown[False]
    assert "Requests and replies" not in shown[False]
    assert shown[True].startswith(shown[False][:200])
    assert "Requests and replies" in shown[True]


@pytest.mark.usefixtures("any_share_read")
def test_mini_data_and_limits_are_no_reason_to_quote(write_run):
    first = build([write_run(metadata={"data": "mini"}, original=9)], Options(resamples=0, drawn=False)).first
    states = {check.title: check.state for check in first.checks}
    assert states["full data"] == "no"
    assert states["complete"] == "partly"
    assert first.verdict == "Not yet. Missing: full data."


@pytest.mark.usefixtures("any_share_read")
def test_settings_that_are_not_the_tasks_own_are_said_before_a_number_is_quoted(write_run):
    changed = {"changed_by_options": {"generation": {"temperature": [0.7, 0]}}}
    first = build([write_run(metadata=changed)], Options(resamples=0, drawn=False)).first
    check = next(check for check in first.checks if check.title == "the task's settings")
    assert (check.state, check.reason) == ("partly", "asked with temperature=0 instead of 0.7")
    assert check.title in first.verdict and first.verdict != "Yes."
    own = build([write_run(name="own")], Options(resamples=0, drawn=False)).first
    assert check.title not in {each.title for each in own.checks}


def test_every_form_has_the_verdict(document):
    for text in (markdown(document), html.unescape(page(document))):
        assert document.first.verdict in text
        assert "clean images" in text


@pytest.mark.parametrize(
    ("states", "said"),
    [(["yes", "yes"], "Yes."), (["yes", "partly"], "With care: b."), (["no", "partly"], "Not yet. Missing: a.")],
)
def test_verdict_is_that_of_the_worst(states, said):
    assert verdict([Check(name, state, "") for name, state in zip("ab", states, strict=True)]) == said


def bar(value, low, high, chance, higher=True):
    return Bar("of", Cell(value, low, high), chance=chance, higher_is_better=higher)


@pytest.mark.parametrize(
    ("made", "beats"),
    [
        (bar(30.0, 26.0, 34.0, 25.0), True),
        (bar(30.0, 24.0, 36.0, 25.0), False),
        (bar(20.0, 16.0, 24.0, 25.0, higher=False), True),
        (bar(30.0, None, None, 25.0), True),
        (bar(20.0, None, None, None), True),
    ],
)
def test_better_than_guessing_is_what_the_interval_says(made, beats):
    assert made.beats_chance is beats


def finding(suite, clause, chance, loss=""):
    return Finding(suite, (bar(50.0, 40.0, 60.0, chance),), "", clause, f"what {suite} asks", loss)


def test_sentence_names_strengths_then_what_is_guessed():
    found = (finding("a", "right on 50 % of a", 25.0), finding("b", "right on 50 % of b", 45.0))
    assert ModelFindings("m", found).sentence == "Right on 50 % of a, but no better than guessing at what b asks."
    assert ModelFindings("m", found[1:]).sentence == "No better than guessing at what b asks."


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Interval(-0.2, -0.25, -0.15, 10, 10), "loses 20.0 points [15.0, 25.0] here"),
        (Interval(-0.01, -0.05, 0.03, 10, 10), "shows no loss beyond chance here (1.0 points [-3.0, 5.0])"),  # noqa: E501
        (Interval(-0.2, None, None, 99, 99), "loses 20.0 points here, without an interval"),
        (Interval(0.1, 0.05, 0.15, 10, 10), "gains 10.0 points [5.0, 15.0] here"),
        (Interval(-0.2, None, None, 2, 2, reason=FEW), "loses 20.0 points here, over too few images for an interval"),
    ],
)  # fmt: skip
def test_loss_in_words(change, said):
    assert lost(change, "here") == said


def test_a_gain_without_an_interval_is_no_loss():
    said = lost(Interval(0.036, None, None, 2, 2, reason=FEW), "here")
    assert said == "gains 3.6 points here, over too few images for an interval"


def test_what_lies_below_guessing_with_its_whole_interval_is_said_to():
    below = Finding("c", (bar(10.0, 5.0, 20.0, 25.0),), "", "right on 10 % of c", "what c asks")
    assert (below.guessing, bar(20.0, 15.0, 26.0, 25.0).guessing, bar(30.0, 26.0, 34.0, 25.0).guessing) == (
        "below guessing", "no better than guessing", "",
    )  # fmt: skip
    assert ModelFindings("m", (below,)).sentence == "Below guessing at what c asks."
    weak = finding("b", "right on 50 % of b", 45.0)
    said = "No better than guessing at what b asks and below guessing at what c asks."
    assert ModelFindings("m", (below, weak)).sentence == said
    assert replace(below, beats=False, bars=(*below.bars, *weak.bars)).guessing == "no better than guessing"


@pytest.mark.usefixtures("any_share_read")
def test_a_trial_of_few_questions_is_called_one_in_the_first_words(write_run):
    document = build([write_run(original=9)], Options(resamples=0, drawn=False))
    (model,) = document.first.models
    assert model.sentence.startswith("Trial of 2 questions a task: ")
    assert all("(trial of 2 questions a task)." in each.loss for each in model.findings)
    assert all(text.startswith("Trial of 2 questions a task: ") for text in document.first.sentences.values())
    whole_run = build([write_run("whole")], Options(resamples=0, drawn=False)).first.models[0]
    assert "Trial" not in whole_run.sentence


def test_which_of_two_runs_of_a_model_is_shown_and_how_the_other_differs(write_run, tmp_path):
    wrong = {level: {"q1": "B", "q2": "B"} for level in range(3)}
    runs = [
        write_run("before"),
        write_run("after", trials=wrong, metadata={"data_digest": "0ther"}, date="20270101_000000"),
    ]
    document = build(runs, Options(resamples=0, drawn=False))
    (said,) = document.first.others
    assert f"shown is {tmp_path / 'before'}. {tmp_path / 'after'} has " in said
    assert "0.0 %, not " in said and "other data" not in said  # the first run did not record what it read
    for text in ("".join(line.strip() for line in screen(document)), markdown(document), html.unescape(page(document))):
        assert "shown is" in text
    assert build(runs[:1], Options(resamples=0, drawn=False)).first.others == ()


def test_other_data_is_said_of_two_runs_of_one_model(write_run):
    runs = [write_run(name, metadata={"data_digest": name}, date=f"2027010{place}_000000")
            for place, name in enumerate("ab", start=1)]  # fmt: skip
    document = build(runs, Options(resamples=0, drawn=False))
    assert document.first.others[0].endswith("has other data.")
    flags = [flag.text for flag in document.parts[0].flags if flag.kind == "warning"]
    assert any(text.startswith("Rows here are of different data, and do not compare: medq_deg_l0") for text in flags)


def test_other_settings_are_said_of_two_runs_of_one_model(write_run):
    own = {"own_prompt": {"name": "mine.txt", "digest": "1a2b"}}
    runs = [write_run("ours"), write_run("mine", metadata=own, date="20270101_000000")]
    (said,) = build(runs, Options(resamples=0, drawn=False)).first.others
    assert said.endswith("has other settings.")


def test_sentence_counts_what_it_does_not_name_of_what_is_guessed():
    guessed = tuple(finding(name, f"right on {name}", 45.0) for name in "abcde")
    assert "what c asks and 2 more benchmarks" in ModelFindings("m", guessed).sentence
    assert "what d asks" in ModelFindings("m", guessed[:4]).sentence


def test_sentence_contrasts_nothing_with_guessing_where_the_level_of_guessing_is_unknown():
    found = (finding("a", "right on 50 % of a", None), finding("b", "right on 50 % of b", 45.0))
    assert ModelFindings("m", found).sentence == "Right on 50 % of a; no better than guessing at what b asks."


@pytest.mark.parametrize(
    ("made", "said", "short"),
    [
        (Bar("of", Cell(3.456, 2.0, 4.0), "of 5", 5.0, bottom=1.0), "3.46 of 5 [2.00, 4.00]", "3.46 of 5"),
        (Bar("of", Cell(0.62), "", 1.0), "0.620", "0.620"),
        (Bar("of", Cell(68.2, 65.3, 71.0)), "68.2 % [65.3, 71.0]", "68 %"),
    ],
)
def test_number_on_a_short_scale_keeps_its_decimals(made, said, short):
    assert (shown(made), whole(made)) == (said, short)


def first_of(*bars):
    models = tuple(
        ModelFindings(name, (Finding("suite", (each,), "", "", ""),)) for name, each in zip("mn", bars, strict=False)
    )
    return FirstScreen((), models, (), {})


@pytest.mark.parametrize("count", [1, 2])
def test_terminal_says_scale_direction_and_what_marks_mean(count):
    made = Bar("stars", Cell(3.456, mark="‖"), "of 5", 5.0, higher_is_better=False, bottom=1.0)
    (row,) = [line.plain for line in lines(first_of(*[made] * count), "t") if "stars" in line.plain]
    assert row.startswith("suite            stars, 1 to 5 ↓")
    assert row.count("3.46‖") == count
    assert any(line.plain.startswith("‖ No interval") for line in lines(first_of(*[made] * count), "t"))


def test_one_task_is_one_task_and_hidden_runs_are_counted(write_run):
    small = write_run("small", model="m", levels=[2], date="20260102_000000")
    large = write_run("large", model="m")
    first = build([small], Options(resamples=0, drawn=False)).first
    assert first.facts[0] == "1 task"
    first = build([small, large], Options(resamples=0, drawn=False)).first
    assert "1 more run of the same model in the tables" in first.facts


def test_of_as_many_questions_the_tasks_that_a_leaderboard_ranks_first_count():
    """A run that asked MedQ-Deg as one task, as one a level, and ten times each."""
    sets = (("medq_deg_calib",), ("medq_deg_l0", "medq_deg_l1", "medq_deg_l2"), ("medq_deg",), ("medq_deg_noimage",))
    assert [_headline_place(SUITE, tasks) for tasks in sets] == [2, 1, 0, 3]
    kept = [_Kept(9, finding("S", "m", 20.0), ((None, tasks),), _headline_place(SUITE, tasks)) for tasks in sets]
    assert max(kept, key=lambda each: each.rests_on).asked[0][1] == ("medq_deg",)
    assert kept[0]._replace(size=10).rests_on > kept[2].rests_on
    assert _headline_place(replace(SUITE, name="mine"), ("mine",)) == 0


def test_what_several_models_lose_stands_in_a_line_a_benchmark_in_the_terminal():
    def model(name, *change):
        found = replace(finding("S", name, 20.0), loss="a long sentence.", under="under x")
        return ModelFindings(name, (replace(found, change=Interval(*change, 9, 9) if change else None),))

    models = (model("a", -0.2, -0.3, -0.1), model("b", 0.01, None, None), model("c"))
    # What has no single number, such as the loss on degraded pictures, keeps its sentence.
    shown = [line.plain for line in lines(FirstScreen((), models, (), {}), "three models")]
    assert "S, points lost under x: a 20.0 [10.0, 30.0]; b -1.0" in shown
    assert [line for line in shown if "a long sentence" in line] == ["S, c a long sentence."]
    alone = [line.plain for line in lines(FirstScreen((), models[:1], (), {}), "one model")]
    assert "S a long sentence." in alone


def test_mends_are_of_use(write_run):
    checks = {
        each.title: each for each in build([write_run(metadata={"data": "mini"})], Options(drawn=False)).first.checks
    }
    assert checks["full data"].mend == "lmms-medtasks data prepare medq_deg"
    # What --settings paper changes in MedQ-Deg is nothing.
    assert checks["the paper's protocol"].state == "partly"
    assert checks["the paper's protocol"].mend == ""


def test_date_is_in_utc_where_the_run_says_its_zone(write_run):
    """A plain lmms-eval run is named by the time in Singapore: 01:56 there is the day before in UTC."""
    run = write_run(date="20260102_015602")
    (path,) = run.glob("*_results.json")
    content = json.loads(path.read_text())
    content["config"]["resolved_cli_args"] = {"timezone": "Asia/Singapore"}
    path.write_text(json.dumps(content))
    assert "2026-01-01" in build([run], Options(resamples=0, drawn=False)).first.facts


def test_worst_score_of_a_scale_from_1_to_5_is_an_empty_bar():
    made = Bar("stars", Cell(1.0, 1.0, 1.0), "of 5", 5.0, bottom=1.0)
    (row,) = [line.plain for line in lines(first_of(made), "t") if "stars" in line.plain]
    assert "█" not in row
    assert [made.place(value) for value in (0.0, 1.0, 3.0, 5.0)] == [0.0, 0.0, 0.5, 1.0]


def test_numbers_that_only_one_model_has_keep_their_place():
    def of(*names):
        return Finding("suite", tuple(Bar(name, Cell(50.0)) for name in names), "", "", "")

    assert titles([of("L0", "L2"), of("L0", "L1", "L2")]) == ["L0", "L1", "L2"]


def test_run_whose_requests_all_failed_is_not_to_be_quoted(write_run):
    trials = {level: {"q1": "!!", "q2": "!!"} for level in range(3)}
    document = build([write_run(trials=trials)], Options(resamples=0, drawn=False))
    states = {check.title: check.state for check in document.first.checks}
    assert states["complete"] == "no"
    assert "independent trials" not in states
    for text in ("\n".join(screen(document)), markdown(document), html.unescape(page(document))):
        assert document.first.no_finding in text
    assert 'class="key"' not in page(document)


def test_a_number_on_a_short_scale_keeps_its_decimals_in_a_clause():
    made = Bar("a", Cell(0.667, 0.5, 0.8), "of 1.5", 1.5)
    assert whole(made) == "0.67 of 1.5" and whole(bar(69.4, 60.0, 75.0, 50.0)) == "69 %"


def test_of_many_models_the_best_are_named_and_the_others_are_folded_and_points():
    """Best by mean place: c is first in accuracy and has the fewest alarms, e is last in both."""

    def model(name, accuracy, alarms):
        bars = (bar(accuracy, None, None, 20.0), replace(bar(alarms, None, None, None, False), title="alarms"))
        return ModelFindings(name, (replace(finding("S", name, 20.0), bars=bars),))

    numbers = {"a": (50.0, 30.0), "b": (40.0, 40.0), "c": (90.0, 10.0), "d": (60.0, 20.0), "e": (30.0, 60.0)}
    models = tuple(model(name, *each) for name, each in numbers.items())
    many, few = (FirstScreen((), each, (), {}) for each in (models, models[:4]))
    assert [each.model for each in many.named] == ["c", "d", "a"]
    assert [each.model for each in many.folded] == ["b", "e"]
    assert [each.model for each in few.named] == ["c", "d", "a", "b"] and few.folded == ()
    group = Group("suite-1", "S", (), tuple((each.model, each.findings[0]) for each in models), alone=False)
    named, others = group.bars("alarms")
    assert ([name for name, _ in named], [name for name, _ in others]) == (["c", "d", "a"], ["b", "e"])


def test_a_model_that_was_asked_one_benchmark_heads_none_that_were_asked_all():
    """e has the best number of S and none of T: there it is last. Places from 0: a 1, b 3, e 4, c 5, d 7."""

    def found(suite, name, value):
        return replace(finding(suite, name, 20.0), bars=(bar(value, None, None, 20.0),))

    whole = [
        ModelFindings(name, (found("S", name, 50.0 - n), found("T", name, 50.0 - n))) for n, name in enumerate("abcd")
    ]
    screen = FirstScreen((), (ModelFindings("e", (found("S", "e", 90.0),)), *whole), (), {})
    assert [each.model for each in (*screen.named, *screen.folded)] == ["a", "b", "e", "c", "d"]


def best_of(**numbers):
    """By model value, and ends of the interval, of one number."""
    return best_models.sentence({
        name: replace(finding("S", name, 20.0), bars=(replace(bar(*each, 20.0), title="pictures"),))
        for name, each in numbers.items()
    })  # fmt: skip


def test_who_is_best_is_said_by_the_intervals():
    a, b, c, d = (70.0, 65.0, 75.0), (66.0, 60.0, 72.0), (50.0, 45.0, 55.0), (70.0, None, None)
    assert best_of(a=a, c=c) == "a is best at pictures."
    assert best_of(a=a, b=b) == best_of(a=a, b=b, c=c) == "a has the best number at pictures."
    assert best_of(a=a, b=a) == best_of(a=a, b=a, c=c) == "a and b share the best number at pictures."
    assert best_of(d=d, c=c) == "d has the best number at pictures."
    assert best_of(a=a) == ""
    # All as low as can be, or by a judge that compares words: nobody is best.
    assert best_of(a=(0.0, 0.0, 10.0), b=(0.0, 0.0, 12.0)) == ""
    by_words = [replace(bar(*each, None), cell=Cell(*each, mark=LEXICAL)) for each in (a, c)]
    made = {name: replace(finding("S", name, 20.0), bars=(each,)) for name, each in zip("ac", by_words, strict=True)}
    assert best_models.sentence(made) == ""


def test_of_several_models_the_screen_begins_with_who_leads_most_numbers():
    """b leads two numbers of three; the third is shared by a and b; c was asked one number alone."""

    def model(name, *values):
        bars = [replace(bar(value, None, None, 20.0), title=str(place)) for place, value in enumerate(values)]
        return ModelFindings(name, (replace(finding("S", name, 20.0), bars=tuple(bars)),))

    models = (model("a", 50.0, 60.0, 70.0), model("b", 55.0, 65.0, 70.0), model("c", 1.0))
    shown = FirstScreen((), models, (), {}, best={"S": "b is best."})
    assert shown.leader == "b leads in 2 of the 3 numbers that several of these models have."
    assert [each.model for each in shown.named] == ["b", "a", "c"]
    assert replace(shown, models=models[:1]).leader == ""
    assert replace(shown, best={"S": best_models.OTHER_QUESTIONS}).leader == ""
    assert replace(shown, models=(models[0], model("d", 50.0, 60.0, 70.0))).leader == ""


def test_who_is_best_in_all_numbers_is_said_once_and_titles_with_a_comma_stand_apart():
    def made(values):
        bars = [
            replace(bar(value, value - 1, value + 1, 20.0), title=f"{place}, x") for place, value in enumerate(values)
        ]
        return replace(finding("S", "", 20.0), bars=tuple(bars))

    all_best, mixed = ({"a": made((50.0, 50.0, 50.0)), "b": made(each)} for each in ((9.0,) * 3, (50.0, 9.0, 9.0)))
    assert best_models.sentence(all_best) == "a is best in all 3 numbers."
    said = best_models.sentence(mixed)
    assert said == 'a and b share the best number at "0, x"; a is best at "1, x" and "2, x".'


@pytest.mark.usefixtures("any_share_read")
def test_the_screen_of_several_models_says_who_is_best_at_each_benchmark(write_run):
    wrong = {level: {"q1": "B", "q2": "B"} for level in range(3)}
    runs = [write_run("one", model="one"), write_run("two", model="two", trials=wrong)]
    document = build(runs, Options(resamples=0, drawn=False))
    assert document.first.best["MedQ-Deg"].startswith("one has the best number at clean images (L0)")
    for text in (
        " ".join(line.strip() for line in screen(document)),
        markdown(document),
        html.unescape(page(document)),
    ):
        assert "has the best number" in text
    assert build(runs[:1], Options(resamples=0, drawn=False)).first.best == {}
    other = [write_run(name, model=name, metadata={"data_digest": name}) for name in ("three", "four")]
    assert "no model is called the best" in build(other, Options(drawn=False)).first.best["MedQ-Deg"]


@pytest.mark.usefixtures("any_share_read")
def test_one_model_has_a_chart_for_its_question_and_several_have_bars(write_run):
    runs = [write_run(name, model=name) for name in ("one", "two")]
    alone, both = (page(build(each, Options(resamples=0))) for each in (runs[:1], runs))
    assert alone.count('<figure class="sketch">') == 1 and '<div class="bars">' not in alone
    assert '<figure class="sketch">' not in both and '<div class="bars">' in both
    assert "correct (%); grey: 40 published models, on the paper's data" in html.unescape(alone)


def test_no_line_of_a_sentence_ends_between_a_number_and_its_percent_sign():
    assert unbroken("<b> 91 % of 100 %, 5 points") == "&lt;b&gt; 91\u00a0% of 100\u00a0%, 5 points"
    assert unbroken("q-1 by -2.5 [-10.7, 1.0]") == "q-1 by \u22122.5 [\u221210.7,\u00a01.0]"


def test_lines_of_a_name_end_behind_a_sign():
    assert breakable("medtasks_most_frequent") == "medtasks_<wbr>most_<wbr>frequent"
    assert breakable("a/<b>-3.5B__") == "a/<wbr>&lt;b&gt;-<wbr>3.<wbr>5B__"


def test_no_sign_of_a_number_has_two_meanings():
    """¶ meant "no interval" and "a judge that compares words", and the wrong one was printed."""
    assert not set(MEANINGS) & set(MARKS)
    judged = replace(bar(96.0, 81.7, 99.7, None), cell=Cell(96.0, 81.7, 99.7, LEXICAL + "#"))
    models = (ModelFindings("m", (replace(finding("S", "m", None), bars=(judged,)),)),)
    assert FirstScreen((), models, (), {}).marks == {sign: MEANINGS[sign] for sign in (LEXICAL, "#")}
