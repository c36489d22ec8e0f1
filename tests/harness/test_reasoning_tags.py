"""A user's own marks of thoughts: read before anything is asked, and handed to the scoring hooks with each reply."""

from collections import Counter
from types import SimpleNamespace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import reasoning_tags
from lmms_medtasks.parsing.reply import Reply, SentReply
from lmms_medtasks.samples.run_options import parse_given_tags
from tests.bare_runners import request

PONDER = '[["<ponder>", "</ponder>"]]'
LONG = "The film shows " + "a large effusion and " * 10


def task(name="t", own=None, filters=lambda instance: {"none": list(instance.resps)}, replies=()):
    instances = []
    for number, several in enumerate(replies):
        made = request("q", number, max_new_tokens=8)
        made.resps = list(several)
        instances.append(made)

    def apply_filters():
        for instance in instances:
            instance.filtered_resps = filters(instance)

    config = SimpleNamespace(task=name, reasoning_tags=own, metadata={"data": "mini"})
    return SimpleNamespace(config=config, instances=instances, apply_filters=apply_filters)


def options(tags=None):
    return {"cli_args": SimpleNamespace(reasoning_tags=tags)}


def test_a_task_has_those_of_its_yaml_and_of_the_option_and_the_harness_strips_nothing():
    one, other = task(own=[["<a>", "</a>"]]), task("u")
    found = reasoning_tags.take_over_reasoning_tags([one, other], options(PONDER))
    assert found == {"t": (("<a>", "</a>"), ("<ponder>", "</ponder>")), "u": (("<ponder>", "</ponder>"),)}
    assert one.config.reasoning_tags == other.config.reasoning_tags == "none"
    assert one.config.metadata == {"data": "mini", "reasoning_tags": [["<a>", "</a>"], ["<ponder>", "</ponder>"]]}
    plain = task()
    assert reasoning_tags.take_over_reasoning_tags([plain], {}) == {"t": ()} and plain.config.metadata == {
        "data": "mini"
    }
    with pytest.raises(UserError, match="^t, reasoning_tags: "):
        reasoning_tags.take_over_reasoning_tags([task(own="<a>")], options())


def test_a_hook_gets_replies_that_say_why_they_ended_with_the_tags():
    tags = {"t": (("<ponder>", "</ponder>"),)}
    one = task(replies=[[SentReply("<ponder>A", "length", 4), "from a cache"]])
    with reasoning_tags.hand_over_reasoning_tags([one], tags):
        one.apply_filters()
    cut, cached = one.instances[0].filtered_resps["none"]
    assert (cut.ended, cut.limit, cut.tags) == ("length", 4, tags["t"]) and Reply.of(cut).outcome == "cut"
    assert (cached, cached.ended, cached.limit, cached.tags) == ("from a cache", "", 8, tags["t"])


@pytest.mark.parametrize(
    ("filters", "ended"),
    [
        (lambda instance: {"first": instance.resps[0]}, ["length"]),
        (lambda instance: {"first": instance.resps[0].upper()}, ["length"]),
        (lambda instance: {"each": [each.lower() for each in instance.resps]}, ["length", "stop"]),
        (lambda instance: {"vote": [instance.resps[1].lower()]}, [""]),  # of which one it is not known
    ],
)
def test_a_filter_that_makes_new_texts_does_not_lose_it(filters, ended):
    one = task(filters=filters, replies=[[SentReply("A", "length", 4), SentReply("B", "stop", 4)]])
    with reasoning_tags.hand_over_reasoning_tags([one], {"t": (("<a>", "</a>"),)}):
        one.apply_filters()
    (found,) = one.instances[0].filtered_resps.values()
    several = found if isinstance(found, list) else [found]
    assert [each.ended for each in several] == ended and all(each.tags for each in several)


def test_unknown_marks_are_counted_recorded_and_said_with_the_way_out(capsys):
    strange = f"<ponder>{LONG}</ponder> B"
    one = task(replies=[[strange, "B"], [strange, "<b>C</b>"]])
    other = task("u", replies=[[f"<|deliberate|>{LONG}"]])
    with reasoning_tags.hand_over_reasoning_tags([one, other], {}) as unknown:
        one.apply_filters()
        other.apply_filters()
    assert unknown == {"t": Counter({"<ponder>": 2}), "u": Counter({"<|deliberate|>": 1})}
    results = {"configs": {"t": {"metadata": {"data": "mini"}}, "u": {}}}
    told = reasoning_tags.note_unknown_marks(results, unknown)["configs"]
    assert told["t"]["metadata"] == {"data": "mini", "unknown_marks": {"<ponder>": 2}}
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2 and "2 replies begin with the mark <ponder>" in said[0]
    assert f"--reasoning_tags '{PONDER}'" in said[0]
    assert reasoning_tags.note_unknown_marks(None, unknown) is None and not capsys.readouterr().err


def test_the_tags_that_were_given_leave_no_unknown_mark():
    one = task(replies=[[f"<ponder>{LONG}</ponder> B"]])
    with reasoning_tags.hand_over_reasoning_tags([one], {"t": parse_given_tags(PONDER, "")}) as unknown:
        one.apply_filters()
    assert not unknown["t"] and Reply.of(one.instances[0].filtered_resps["none"][0]).answer == "B"
