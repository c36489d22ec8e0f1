"""Ratings by people: every form of file, every mistake."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.agreement import judged_answers, ratings
from lmms_medtasks.agreement.judged_answers import AnswerKey
from lmms_medtasks.errors import UserError


@pytest.fixture
def judged(write_run):
    return judged_answers.read_judged_answers([write_run({"q1": ["34"], "q2": ["45"], "lung-3": ["11"]})])


@pytest.fixture
def two_models(write_run):
    return judged_answers.read_judged_answers(
        [write_run({"q1": ["34", "22"]}, model, model=model) for model in ("x", "y")]
    )


@pytest.fixture
def write(tmp_path):
    def write(text, name="anna.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return write


def key(id, model="m", trial=1):
    return AnswerKey(model, id, trial)


def test_wide(judged, write):
    path = write("id,coherence,visual_accuracy\nq1,3,\nq2,4.0,5\n")
    found = ratings.read_ratings([path], judged)
    assert found == {"anna": {key("q1"): {"coherence": 3}, key("q2"): {"coherence": 4, "visual_accuracy": 5}}}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_common_form_of_a_csv(judged, write, delimiter, mark, end):
    lines = [("id", "comment", "coherence"), ("q1", '"two\nlines, 1;\t2"', " 3 "), ("", "", ""), ("q2", "", "4")]
    path = write(mark + end.join(delimiter.join(cells) for cells in lines) + end)
    assert ratings.read_ratings([path], judged) == {"anna": {key("q1"): {"coherence": 3}, key("q2"): {"coherence": 4}}}


def test_empty_columns_at_the_end_are_ignored(judged, write):
    found = ratings.read_ratings([write("id,coherence,,\nq1,3,,\n,,,\nq2,4\n")], judged)
    assert found == {"anna": {key("q1"): {"coherence": 3}, key("q2"): {"coherence": 4}}}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_refused_with_the_way_out(judged, write, encoding):
    path = write("")
    path.write_bytes("\ufeffid\tcoherence\nq1\t3\n".encode(encoding))
    with pytest.raises(UserError, match=r"is UTF-16 text.* Save it as CSV UTF-8, or: iconv -f UTF-16 "):
        ratings.read_ratings([path], judged)
    path.write_bytes("id\tcoherence\tcomment\nq1\t3\tZoë\n".encode(encoding))
    with pytest.raises(UserError, match="is UTF-16 text without its mark, or no text. Save it as CSV UTF-8"):
        ratings.read_ratings([path], judged)


def test_several_files_are_several_raters(judged, write):
    paths = [write("id,coherence\nq1,3\n", name) for name in ("anna.csv", "ben.csv")]
    assert list(ratings.read_ratings(paths, judged)) == ["anna", "ben"]


def test_models_and_trials(two_models, write):
    path = write("id,model,trial,coherence\nq1,x,1,3\nq1,y,2,4\n")
    assert set(ratings.read_ratings([path], two_models)["anna"]) == {key("q1", "x"), key("q1", "y", 2)}


def test_labels_of_any_case(judged, write, change_protocol, write_run):
    from lmms_medtasks.judges.protocol import ScoreDimension

    change_protocol(dimensions=(ScoreDimension("right", {"Correct": 1.0, "Wrong": 0.0}),), total=None)
    run = write_run({"q1": ["-"]}, "other")
    found = ratings.read_ratings([write("id,right\nq1, correct \n")], judged_answers.read_judged_answers([run]))
    assert found["anna"][key("q1")] == {"right": 1}


def test_texts_and_comments_of_a_sheet_are_no_ratings(judged, write):
    path = write("id,rater,question,reference,answer,coherence,comment\nq1,,w,r,a,3,hard\n")
    assert ratings.read_ratings([path], judged) == {"anna": {key("q1"): {"coherence": 3}}}


def test_codes_of_a_sheet(judged, write):
    codes = write("code,model,id,trial,task,run\nAB3,m,lung-3,1,open,r\n", "key.csv")
    path = write("id,coherence\nAB3,2\n")
    assert ratings.read_ratings([path], judged, codes) == {"anna": {key("lung-3"): {"coherence": 2}}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,coherence\nlung3,3\n", "row 2: no id 'lung3' in the runs.*Did you mean 'lung-3'"),
        ("id,coherence\nq1,6\n", "row 2, column 'coherence': rating '6' is not on the scale. Allowed: 1, 2, 3, 4, 5"),
        ("id,coherence\nq1,good\n", "rating 'good' is not on the scale"),
        ("id,coherence\nq1,nan\n", "rating 'nan' is not on the scale"),
        ("id,coherence\nq1,3.5\n", "rating '3.5' is not on the scale"),
        ("id,coherence\nq1,3\nq1,4\n", "row 3: 'q1' is rated twice in 'coherence' by 'anna'"),
        ("id,coherence\n\nq1,3\n\n\nq1,4\n", "row 6: 'q1' is rated twice"),
        ("id,coherance\nq1,3\n", "Unknown column 'coherance'.*Did you mean 'coherence'"),
        ("question,coherence\nq1,3\n", "has no column 'id'"),
        ("id,rater\nq1,a\n", "has no column with ratings"),
        ("id,coherence\nq1,\n", "no rating in it"),
        ("id,coherence\n,3\n", "row 2: no id ''"),
        ("id,model,coherence\nq1,n,3\n", "Unknown model 'n'"),
        ("id,trial,coherence\nq1,2,3\n", "no trial '2' of question 'q1' by 'm'; it has 1"),
        ("id,trial,coherence\nq1,x,3\n", "no trial 'x'"),
        ("", "is empty"),
        ("id,coherence,id\n", "a column twice: 'id'"),
        ("sep=;\nid;coherence\nq1;3\n", "starts with 'sep=', a line that only Excel knows. Take that line out"),
        ("PK\x03\x04", "is an Excel workbook or another zip"),
        ("id,coherence,,\nq1,3,,4\n", "row 2: 4 cells, but the header has 2"),
        ("id,coherence\nq1\n", "row 2: 1 cells, but the header has 2"),
        ('id,coherence\nq1,"1\n', "Is a quotation mark never closed"),
    ],
)
def test_mistakes(judged, write, text, message):
    with pytest.raises(UserError, match=f"(?s){message}"):
        ratings.read_ratings([write(text)], judged)


def test_which_model_and_which_trial(two_models, write):
    with pytest.raises(UserError, match="which model's answer.*Models: x, y"):
        ratings.read_ratings([write("id,coherence\nq1,3\n")], two_models)
    with pytest.raises(UserError, match="which of the 2 replies"):
        ratings.read_ratings([write("id,model,coherence\nq1,x,3\n")], two_models)


def test_all_mistakes_are_told_at_once(judged, write):
    rows = "".join(f"q1,{number}\n" for number in range(6, 36))
    with pytest.raises(UserError) as error:
        ratings.read_ratings([write("id,coherence\n" + rows)], judged)
    assert str(error.value).startswith("30 of the ratings can't be used; nothing was computed.\n")
    assert str(error.value).count("not on the scale") == 20
    assert str(error.value).endswith("… and 10 more.")


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ("code,model,id,trial,task,run\nAB4,m,q1,1,open,r\n", "no code 'AB3' in the key.*Did you mean 'AB4'"),
        ("code,model,id,trial,task,run\nAB3,n,q1,1,open,r\n", "an answer that the runs given do not hold .model 'n'"),
        ("id,coherence\nAB3,3\n", "is no key of a rating sheet: it has no column 'code'"),
        ("code,model,id,trial,task,run\nAB3,m,q1,one,open,r\n", "trial 'one' no number"),
    ],
)
def test_keys_that_do_not_fit(judged, write, codes, message):
    with pytest.raises(UserError, match=f"(?s){message}"):
        ratings.read_ratings([write("id,coherence\nAB3,3\n")], judged, write(codes, "key.csv"))


TEXTS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=20)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "＝1"])
def test_formulas_are_made_harmless(text):
    assert ratings.guard_formula(text) == "'" + text


@given(TEXTS)
def test_guarding_is_undone(text):
    assert ratings.unguard_formula(ratings.guard_formula(text)) == text
    assert not ratings.guard_formula(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_other_texts_stay():
    assert ratings.guard_formula("a = b") == "a = b"
    assert ratings.unguard_formula("'tis") == "'tis"
