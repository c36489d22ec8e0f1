"""What a prompt says of each label of a scale."""

import dataclasses

import pytest

from lmms_medtasks.judges import anchors, registry


@pytest.mark.parametrize("name", sorted(set(registry.names()) - {"sure_multilabel", "sure_mimic_multilabel"}))
def test_our_prompts_have_an_anchor_for_each_label(name):
    protocol = registry.get(name)
    found = anchors.of(protocol)
    assert {each.name: set(each.labels) for each in protocol.dimensions} == {
        key: set(own) for key, own in found.items()
    }


def test_a_table_is_no_anchor():
    assert anchors.of(registry.get("sure_multilabel")) == {}


def test_a_dimensions_lines_stand_below_its_name():
    found = anchors.of(registry.get("med_cmr_open"))
    assert found["coherence"]["0"] == "no reasoning at all"
    assert found["consistency"]["0"] == "no understandable text"


def test_a_label_without_a_line_or_with_two_gives_no_anchors(tmp_path):
    path = tmp_path / "prompt.txt"
    protocol = dataclasses.replace(registry.get("open_answer"), prompt=str(path))
    path.write_text("0 - wrong\n1 - right\n{{question}}{{reference}}{{answer}}")
    assert anchors.of(protocol) == {}
    from lmms_medtasks.judges import prompts

    prompts.text_of.cache_clear()
    path.write_text("0 - wrong\n0 - or not\n0.5 - half\n1 - right\n{{question}}{{reference}}{{answer}}")
    assert anchors.of(protocol) == {}
