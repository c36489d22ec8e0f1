"""Tasks of several runs that one model was asked."""

from __future__ import annotations

from types import SimpleNamespace

from lmms_medtasks.report.asked import by_run, extent, facts, model_of, origin, together


def run(model, date="20260101_000000"):
    content = {
        "config": {"model": "hf", "model_args": f"pretrained={model}"},
        "configs": {name: {"metadata": {"data": "full"}} for name in ("one", "two")},
        "versions": {"one": 1.0, "two": 1.0},
        "date": date,
    }
    return SimpleNamespace(content=content, path=SimpleNamespace(name=date))


def asked(run, name, label=""):
    return SimpleNamespace(run=run, name=name, label=label or name, judging=None)


def grouped(every):
    groups = together((model_of(each.run, each.name), each) for each in every)
    return [(key[1], [(each.name, each.run.content["date"][7]) for each in group]) for key, group in groups]


def test_a_run_with_a_label_that_is_there_begins_another_group():
    first, again = run("m"), run("m", "20260102_000000")
    every = [asked(first, "one"), asked(again, "one"), asked(again, "two"), asked(run("other"), "one")]
    assert grouped(every) == [
        ("pretrained=m", [("one", "1")]),
        ("pretrained=m", [("one", "2"), ("two", "2")]),
        ("pretrained=other", [("one", "1")]),
    ]
    assert grouped([*every[::2], asked(run("m", "20260103_000000"), "two")]) == [
        ("pretrained=m", [("one", "1"), ("two", "2")]), ("pretrained=m", [("two", "3")]),
    ]  # fmt: skip


def test_a_label_twice_in_a_run():
    own = run("m")
    every = [asked(own, "one", "open"), asked(own, "two", "open")]
    assert grouped(every) == [("pretrained=m", [("one", "1")]), ("pretrained=m", [("two", "1")])]


def test_what_is_said_of_several_runs():
    both = [asked(run("m"), "one"), asked(run("m", "20260102_000000"), "two")]
    assert [tasks for _, tasks in by_run(both)] == [["one"], ["two"]]
    said = facts(both, "; ")
    assert (said["Model"], said["Run"]) == ("m", "20260101_000000; 20260102_000000")
    assert extent(both) == "full"
    assert origin(both) == (("run model", "m"), ("run task set", "one, two"), ("run data", "full"))
    judged = [SimpleNamespace(**{**vars(both[0]), "judging": SimpleNamespace(shown="openai:j")}), both[1]]
    assert origin(judged)[-1] == ("run judge", "openai:j")
