"""A bullet chart: places in percent of the scale, and names of the ends that do not touch the others."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from lmms_medtasks.report.charts.bullets import bullet

HOSTILE = '</svg><script>alert("&")</script>'


def test_places_of_a_bullet_chart_are_in_percent_so_that_text_keeps_its_size() -> None:
    chart = bullet("a <b> 50", (0.0, 200.0), 50.0, (40.0, 60.0), quartiles=(80.0, 100.0, 120.0), chance=20.0)
    assert "viewBox" not in chart and 'width="100%"' in chart
    assert 'cx="25.00%"' in chart and 'x1="20.00%" x2="30.00%"' in chart
    assert 'x="40.00%" width="20.00%"' in chart and 'x1="10.00%" x2="10.00%"' in chart
    assert 'aria-label="a &lt;b&gt; 50"' in chart and "guessing 20.0" in chart


def test_labels_of_a_bullet_chart_do_not_touch() -> None:
    assert ">0<" not in bullet("x", (0.0, 100.0), 50.0, chance=2.0)
    assert ">0<" in bullet("x", (0.0, 100.0), 50.0, chance=50.0)


def test_a_scale_that_begins_at_one_has_its_own_places() -> None:
    # 2 stars of 1 to 5 are a quarter of the way, 3 to 4 stars a half to three quarters.
    chart = bullet("x", (1.0, 5.0), 2.0, published=(3.0, 4.0))
    assert 'cx="25.00%"' in chart and re.search(r'"50\.00%"', chart)


@pytest.mark.parametrize("said", ["", HOSTILE])
def test_it_is_well_formed_whatever_it_says(said: str) -> None:
    found = ElementTree.fromstring(bullet(said, (0.0, 100.0), 50.0))
    assert found.get("aria-label") == said
    assert not any(each.tag.endswith("script") for each in found.iter())


def test_a_model_without_an_interval_guessing_or_a_field_has_its_point_alone() -> None:
    alone = bullet("x", (0.0, 100.0), 50.0)
    whole = bullet("x", (0.0, 100.0), 50.0, (40.0, 60.0), quartiles=(1.0, 2.0, 3.0), chance=9.0, published=(5.0, 8.0))
    assert len(re.findall("<circle", alone)) == len(re.findall("<circle", whole)) == 1
    assert len(re.findall("<(line|rect)", alone)) < len(re.findall("<(line|rect)", whole))
    assert "guessing" not in alone
