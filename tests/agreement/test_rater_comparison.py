"""What is compared with what: who is a rater, which answers count, who stands against whom."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.agreement import judged_answers, rater_comparison
from lmms_medtasks.agreement.judged_answers import TOTAL, AnswerKey, JudgedAnswer, JudgedAnswers
from lmms_medtasks.agreement.rater_comparison import Rater, judge_as_rater, list_judgings, majority_of_judge, mean_rater
from lmms_medtasks.judges.protocol import JudgeProtocol, ScoreDimension
from lmms_medtasks.report.terminal import document_text
from lmms_medtasks.statistics.agreement import measure_alpha

JUDGED = {"q1": ["34"], "q2": ["45"], "q3": ["11"], "q4": ["-"], "q5": ["=55"], "q6": ["23"]}
PEOPLE = {"q1": (3, 5), "q2": (4, 5), "q3": (2, 1), "q4": (4, 4), "q5": (5, 5), "q6": (2, 2)}


def krippendorff_alpha(ratings, level):
    return measure_alpha(ratings, list(map(str, range(len(ratings[0])))), level).value


def people(rows=PEOPLE, model="m", **others):
    """Ratings in both dimensions by question, of one rater or of several by name."""
    raters = others or {"anna": rows}
    return {
        rater: {
            AnswerKey(model, id, 1): dict(zip(("coherence", "visual_accuracy"), map(float, numbers), strict=True))
            for id, numbers in each.items()
        }
        for rater, each in raters.items()
    }


def compare(runs, ratings=None, **chosen):
    return rater_comparison.compare(judged_answers.read_judged_answers(runs), ratings or {}, **chosen)


def by_measure(result, kind="judge and people", raters=None):
    return {each.measure: each for each in result.comparisons if each.kind == kind and raters in (None, each.raters)}


def test_judge_and_one_person(write_run):
    found = by_measure(compare([write_run(JUDGED)], people()))
    assert list(found) == ["coherence", "visual_accuracy", "total"]
    coherence = found["coherence"]
    # Without q4, that is missing, and q5, that a rule settled.
    assert (coherence.n, coherence.raters) == (4, ("openai:j", "anna"))
    judge, person = [3, 4, 1, 2], [3, 4, 2, 2]
    assert coherence.coefficients["spearman"].value == pytest.approx(scipy.stats.spearmanr(judge, person).statistic)
    assert coherence.coefficients["exact"].value == 0.75
    assert coherence.coefficients["alpha"].value == pytest.approx(krippendorff_alpha([judge, person], "ordinal"))
    # Totals: 3 + 4*4, 4 + 4*5, 1 + 4*1, 2 + 4*3 and 3 + 4*5, 4 + 4*5, 2 + 4*1, 2 + 4*2.
    total = found["total"]
    expected = scipy.stats.kendalltau([19, 24, 5, 14], [23, 24, 6, 10]).statistic
    assert total.coefficients["kendall"].value == pytest.approx(expected)
    level = krippendorff_alpha([[19, 24, 5, 14], [23, 24, 6, 10]], "interval")
    assert total.coefficients["alpha"].value == pytest.approx(level)
    assert total.coefficients["kappa"].reason == "means and totals are no categories"


def test_what_is_left_out_is_counted(write_run):
    run = write_run(JUDGED)
    assert compare([run], people()).left_out == {"openai:j": (1, 1)}


def test_several_people(write_run):
    ratings = people(anna=PEOPLE, ben={"q1": (1, 4), "q2": (4, 5), "q3": (2, 1)})
    result = compare([write_run(JUDGED)], ratings)
    mean = by_measure(result, raters=("openai:j", "mean of 2 people"))["coherence"]
    # q1: (3 + 1) / 2; q6 was rated by anna alone.
    expected = scipy.stats.spearmanr([3, 4, 1, 2], [2, 4, 2, 2]).statistic
    assert mean.coefficients["spearman"].value == pytest.approx(expected)
    assert mean.n == 4
    assert mean.coefficients["exact"].value is None
    assert by_measure(result, raters=("openai:j", "ben"))["coherence"].n == 3
    between = by_measure(result, "people")["coherence"]
    assert (between.raters, between.n) == (("anna", "ben"), 3)
    assert between.coefficients["exact"].value == pytest.approx(2 / 3)


def test_more_than_two_people(write_run):
    other = {"q1": (3, 5), "q2": (5, 5), "q3": (2, 1)}
    result = compare([write_run(JUDGED)], people(a=PEOPLE, b=other, c={"q1": (3, 5)}))
    kinds = [each.raters for each in result.comparisons if each.kind == "people" and each.measure == "coherence"]
    assert kinds == [("a", "b", "c"), ("a", "b"), ("a", "c"), ("b", "c")]
    together = by_measure(result, "people", ("a", "b", "c"))["coherence"]
    # q1 3 3 3, q2 4 5, q3 2 2; the others have one rating only.
    assert together.n == 3
    assert together.coefficients["exact"].value == pytest.approx(2 / 3)
    nan = float("nan")
    expected = krippendorff_alpha([[3, 4, 2], [3, 5, 2], [3, nan, nan]], "ordinal")
    assert together.coefficients["alpha"].value == pytest.approx(expected)
    assert together.coefficients["spearman"].reason == "for two raters only"


def test_judges_of_the_same_answers(write_run):
    other = {**JUDGED, "q1": ["44"], "q4": ["33"]}
    runs = [write_run(JUDGED, "a", judge="a"), write_run(other, "b", judge="b")]
    between = by_measure(compare(runs), "judges")["coherence"]
    assert (between.raters, between.n) == (("a", "b"), 4)
    assert between.coefficients["exact"].value == 0.75


def test_repeated_judgings(write_run, change_protocol):
    change_protocol(trials=3)
    run = write_run({"q1": ["33 33 43"], "q2": ["44 55 -"], "q3": ["11 11 11"]})
    result = compare([run], people())
    found = [each for each in result.comparisons if each.kind == "repeated judgings" and each.measure == "coherence"]
    assert [len(each.raters) for each in found] == [3, 2, 2, 2]
    assert found[1].raters == ("openai:j, judging 1", "openai:j, judging 2")
    assert [each.coefficients["exact"].value for each in found] == pytest.approx([1 / 3, 2 / 3, 0.5, 0.5])
    # With people each answer counts once, by the mean of its judgings that were had: 10/3, 9/2, 1.
    judge = by_measure(result, raters=("openai:j", "anna"))["coherence"]
    assert judge.n == 3
    expected = scipy.stats.pearsonr([1, 2, 0], [1, 2, 0]).statistic
    assert judge.coefficients["spearman"].value == pytest.approx(expected)
    assert judge.coefficients["kappa"].value is None
    # The majority is a label: 3 for q1, none for q2 (4 and 5), 1 for q3. Anna: 3 and 2. Kappa: (1/2 - 1/4) / (1 - 1/4).
    majority = by_measure(result, raters=("openai:j, majority", "anna"))
    assert list(majority) == ["coherence", "visual_accuracy"]
    assert majority["coherence"].n == 2
    assert majority["coherence"].coefficients["kappa"].value == pytest.approx(1 / 3)


def test_win_rates_count_what_a_rule_settled(write_run):
    runs = [
        write_run({"q1": ["34"], "q2": ["=55"], "q3": ["22"]}, "a", model="a"),
        write_run({"q1": ["24"], "q2": ["44"], "q3": ["-"]}, "b", model="b"),
    ]
    ratings = {"anna": {}}
    for model, numbers in (("a", (3, 5, 2)), ("b", (4, 4, 1))):
        for id, number in zip(("q1", "q2", "q3"), numbers, strict=True):
            ratings["anna"][AnswerKey(model, id, 1)] = {"coherence": float(number)}
    result = compare(runs, ratings)
    # Nobody rated the other dimension: no win rates of it.
    (wins,) = result.wins
    # q3 has no verdict for b. People: a loses q1, wins q2; the judge: a wins both.
    assert wins.measure == "coherence"
    assert wins.rates.models["a"].people.estimate == 0.5
    assert wins.rates.models["a"].judge.estimate == 1
    assert wins.rates.largest.estimate == 0.5


def test_a_pair_is_of_one_rater(write_run):
    runs = [write_run({"q1": ["34"]}, name, model=name) for name in ("a", "b")]
    ratings = {name: {AnswerKey(name, "q1", 1): {"coherence": 3.0}} for name in ("a", "b")}
    assert compare(runs, ratings).wins[0].rates.largest.n == 0


def test_a_run_without_a_judge(write_run):
    result = compare([write_run({"q1": ["-"], "q2": ["=55"]}, judge="none")], people())
    assert result.comparisons == () and result.left_out == {}


def test_intervals_are_by_image_and_seeded(write_run):
    run = write_run({f"q{number}": [f"{number % 5 + 1}3"] for number in range(20)})
    ratings = people({f"q{number}": ((number * 3) % 5 + 1, 3) for number in range(20)})
    first, again = (by_measure(compare([run], ratings))["coherence"] for _ in range(2))
    assert first == again
    interval = first.coefficients["spearman"].interval
    assert interval.low < interval.estimate < interval.high
    assert interval.clusters == 20


LABELS = {str(number): float(number) for number in range(1, 6)}


def key(number: int) -> AnswerKey:
    return AnswerKey("m", f"q{number}", 1)


def answer(number: int, scores: Sequence[float | None], judge: str = "j", settled: bool = False) -> JudgedAnswer:
    measures = {"correctness": tuple(scores), "clarity": tuple(scores), TOTAL: tuple(scores)}
    origin = {"task": "t", "run": "r", "cluster": f"image {number}", "fields": {}, "digest": ""}
    return JudgedAnswer(key=key(number), judge=judge, settled=settled, scores=measures, **origin)


def judged(*answers: JudgedAnswer, trials: int = 3) -> JudgedAnswers:
    protocol = JudgeProtocol(
        name="p", prompt="p.txt", version=1,
        dimensions=(ScoreDimension("correctness", LABELS), ScoreDimension("clarity", LABELS)), fields=("question",),
        paper_judge="", item=lambda doc, reply: None,  # type: ignore[arg-type, return-value]
        trials=trials, total=lambda numbers: sum(numbers.values()),
    )  # fmt: skip
    return JudgedAnswers(protocol, answers, {})


def by_number(numbers: Mapping[AnswerKey, float]) -> dict[str, float]:
    return {each.id: value for each, value in numbers.items()}


def test_the_mean_of_people_is_over_those_who_rated_the_answer() -> None:
    one = Rater("one", {key(1): 1.0, key(2): 4.0}, labels=True)
    other = Rater("other", {key(2): 5.0, key(3): 2.0}, labels=True)
    found = mean_rater([one, other])
    assert by_number(found.numbers) == {"q1": 1.0, "q2": 4.5, "q3": 2.0}
    assert (found.name, found.labels) == ("mean of 2 people", False)
    assert mean_rater([one]) is one


def test_of_people_who_rated_other_answers_the_numbers_are_labels_still() -> None:
    apart = [Rater("one", {key(1): 1.0}, labels=True), Rater("other", {key(2): 5.0}, labels=True)]
    assert mean_rater(apart).labels
    assert not mean_rater([Rater("one", {key(1): 1.5}, labels=False), apart[1]]).labels


def test_a_judges_number_is_the_mean_of_the_judgings_that_were_had() -> None:
    found = judged(
        answer(1, (1, None, 4)), answer(2, (None, None, None)), answer(3, (5, 5, 5), settled=True),
        answer(4, (2, 2, 2), judge="another"),
    )  # fmt: skip
    assert by_number(judge_as_rater(found, "j", "correctness", settled=True).numbers) == {"q1": 2.5, "q3": 5.0}
    assert by_number(judge_as_rater(found, "j", "correctness").numbers) == {"q1": 2.5}
    assert not judge_as_rater(found, "j", "correctness", settled=True).labels
    single = judged(answer(1, (4,)), trials=1)
    assert judge_as_rater(single, "j", "correctness", settled=True).labels
    assert not judge_as_rater(single, "j", TOTAL, settled=True).labels


@given(st.lists(st.sampled_from([1.0, 2.0, 3.0, None]), min_size=1, max_size=7))
def test_a_majority_is_what_more_than_half_gave(scores: list[float | None]) -> None:
    found = majority_of_judge(judged(answer(1, scores), trials=len(scores) + 1), "j", "correctness")
    had = [each for each in scores if each is not None]
    expected = [label for label, count in Counter(had).items() if count > len(had) / 2]
    assert found is not None and list(found.numbers.values()) == expected and found.labels


def test_one_judging_and_a_total_have_no_majority() -> None:
    assert majority_of_judge(judged(answer(1, (4,)), trials=1), "j", "correctness") is None
    assert majority_of_judge(judged(answer(1, (4, 4, 4))), "j", TOTAL) is None
    settled = judged(answer(1, (5, 5, 5), settled=True))
    assert majority_of_judge(settled, "j", "correctness").numbers == {}  # type: ignore[union-attr]


def test_each_judging_is_a_rater_of_its_own_without_what_a_rule_settled() -> None:
    found = list_judgings(
        judged(
            answer(1, (1, None, 4)), answer(2, (2, 3)), answer(3, (5, 5, 5), settled=True), answer(4, (1, 1, 1), "k")
        ),
        "j",
        "correctness",
    )
    assert [each.name for each in found] == ["j, judging 1", "j, judging 2", "j, judging 3"]
    assert [by_number(each.numbers) for each in found] == [{"q1": 1, "q2": 2}, {"q2": 3}, {"q1": 4}]
    assert list_judgings(judged(answer(1, (4,)), trials=1), "j", "correctness") == []
    assert list_judgings(judged(), "j", "correctness") == []


@given(st.lists(st.dictionaries(st.integers(1, 5), st.floats(1, 5), max_size=5), min_size=2, max_size=4))
def test_the_mean_is_a_plain_mean_whoever_comes_first(ratings: list[dict[int, float]]) -> None:
    sides = [
        Rater(f"r{n}", {key(number): value for number, value in own.items()}, True) for n, own in enumerate(ratings)
    ]
    found = by_number(mean_rater(sides).numbers)
    for number in {each for own in ratings for each in own}:
        assert found[f"q{number}"] == pytest.approx(fmean(own[number] for own in ratings if number in own))
    assert found == by_number(mean_rater(sides[::-1]).numbers)


@pytest.fixture
def made(write_run):
    """Two models, two raters, one judge that is no language model."""
    runs = [
        write_run(
            {f"q{n}": ["-" if n == 7 else f"{(n + place) % 5 + 1}3"] for n in range(10)},
            model,
            model=model,
            judge="lexical",
            description={"note": "not a language model"},
        )
        for place, model in enumerate(("=x", "y"))
    ]
    judged = judged_answers.read_judged_answers(runs)
    people = {
        rater: {
            AnswerKey(model, f"q{n}", 1): {"coherence": float((n * step) % 5 + 1), "visual_accuracy": 4.0}
            for model in ("=x", "y")
            for n in range(10)
        }
        for rater, step in (("anna", 1), ("ben", 3))
    }
    return judged, rater_comparison.compare(judged, people)


def test_document(made):
    document = rater_comparison.make_agreement_document(*made)
    (part,) = document.parts
    assert [section.key for section in part.sections] == ["people", "between-people", "wins"]
    flags = [flag.text for flag in part.flags]
    assert flags[0] == "lexical: not a language model."
    assert flags[1] == "Of 20 rated answers, left out of the comparison with lexical: 2 have no verdict of lexical."
    assert len(flags) == 2
    (between,) = part.sections[1].tables
    assert between.title == "anna – ben"
    assert [column.name for column in between.columns][:4] == ["measure", "n", "Spearman", "Kendall tau-b"]
    # All gave the same in the second dimension: dashes, and why.
    visual = between.rows[1]
    assert visual.cells[2].value is None
    assert any(
        note.startswith("– both raters gave one rating only: Spearman of visual_accuracy") for note in between.notes
    )


def test_csv_has_every_number_with_its_interval_and_no_formula(made):
    text = document_text(rater_comparison.make_agreement_document(*made), "csv")
    blocks = [list(csv.DictReader(io.StringIO(block.split("\n", 1)[1]))) for block in text.split("\n\n")]
    assert sum(map(len, blocks)) == len(made[1].comparisons) + 2 * len(made[1].wins)
    assert {row["model"] for row in blocks[-1]} == {"'=x", "y"}
    measure = made[1].comparisons[0].coefficients["spearman"]
    row = blocks[0][0]
    assert float(row["Spearman"]) == pytest.approx(measure.value, abs=1e-5)
    assert float(row["Spearman low"]) == pytest.approx(measure.interval.low, abs=1e-5)


def test_labels_that_score_alike_are_said(made, monkeypatch):
    judged, result = made
    said = "verdict: Incorrect, Unclear score alike and count as one."
    monkeypatch.setattr(rater_comparison, "describe_equal_labels", lambda protocol: [said])
    assert said in [flag.text for flag in rater_comparison.make_agreement_document(judged, result).parts[0].flags]
