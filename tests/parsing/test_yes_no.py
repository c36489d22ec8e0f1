"""Yes and no with an explanation after; the table of replies is read in test_positions.py."""

from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.parsing.outcomes import Answer
from lmms_medtasks.parsing.yes_no import read_yes_no

# No word that says yes or no, or answers.
WORDS = st.lists(
    st.sampled_from("scan panel lung MRI the others show left eyes knowing yesterday noted".split()), max_size=8
)


@given(st.sampled_from(["yes", "no"]), WORDS, st.sampled_from(["{}, {}", "{}. {}", "**{}**\n\n{}", "{} - {}"]))
def test_the_first_word_counts(word, words, template):
    assert read_yes_no(template.format(word.capitalize(), " ".join(words))) == Answer("ok", word)


@given(st.sampled_from(["yes", "no"]), WORDS)
def test_a_final_answer_beats_the_first_word(word, words):
    other = {"yes": "No", "no": "Yes"}[word]
    assert read_yes_no(f"{other}, {' '.join(words)}. Final answer: {word}.") == Answer("ok", word)


@given(WORDS)
def test_letters_inside_words_are_no_answer(words):
    assert read_yes_no(" ".join(words)).status == ("unreadable" if words else "empty")


@given(st.text())
def test_reads_yes_or_no_or_nothing(reply):
    answer = read_yes_no(reply)
    assert (answer.value in ("yes", "no")) == (answer.status == "ok")
