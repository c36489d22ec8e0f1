"""What documents say that was measured is what the records have."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tables(load):
    return load("doc_tables")


def test_tables_are_made_from_the_records(tables):
    shown = set()
    for page in tables.PAGES:
        text = (ROOT / page).read_text("utf-8")
        assert tables.renewed(text) == text, f"python benchmarks/inference.py --tables ({page})"
        shown |= set(re.findall(r"<!-- measured: (\w+) -->", text))
    assert shown == set(tables.TABLES)


def test_a_table_of_another_record_is_noticed(tables):
    text = (ROOT / tables.PAGES[0]).read_text("utf-8")
    other = text.replace("± 0.6", "± 0.5", 1)
    assert tables.renewed(other) == text != other


def test_what_the_guide_says_of_coverage_and_power_stands_in_the_tables(tables):
    """Each number of these sections with a decimal, such as 94.2."""
    guide = (ROOT / "docs/intervals_and_tests.md").read_text("utf-8")
    begin, end = guide.index("## How often the intervals hold"), guide.index("## What is ranked")
    said = re.findall(r"\d+\.\d+", guide[begin:end] + guide[guide.index("## A subset") : guide.index("## Sources")])
    measured = (ROOT / tables.PAGES[0]).read_text("utf-8")
    texts = ("2.8", "3.8")  # no measurements: factors of the t distribution
    assert len(said) > 20 and [each for each in said if each not in measured and each not in texts] == []


# A page, what it says with the lowest and the highest number as groups (one group: all are that), and the rows that
# it is about: part, about, setting.
SAID = [
    ("docs/intervals_and_tests.md", r"covers (\d+) to (\d+) % with 10 images and is wrong",
     "intervals", "share, harder", r"10 images, 1 to 40"),
    *(("docs/intervals_and_tests.md", rf"(\d+) % {said}", "intervals", "mean without", f"^{images} images")
      for images, said in ((10, "with 10 images, 89"), (30, "with 30"), (100, "with 100"))),
    ("docs/intervals_and_tests.md", r"(\d+) % of pairs of equal models", "any_number", "any number", "^ECE"),
    ("docs/ci.md", r"Then (\d+) % of gates", "gate", "gate", r"60 images, 6 questions"),
    ("docs/ci.md", r"and (\d+) % over 20", "gate", "gate", r"20 images, 6 questions"),
    ("docs/ci.md", r"failed in (\d+) to (\d+) %", "gate", "gate", "ten measures"),
    ("task_configs/bones_joints/README.md", r"different in (\d+) to (\d+) % of", "cases", "Bones and Joints, Kruskal",
     "each knows other"),
    ("task_configs/medq_deg/README.md", r"fulfil it in about (\d+) %", "dunning_kruger", "equation 6.* share", ""),
    ("task_configs/medq_deg/README.md", r"or less in (\d+) % of them", "dunning_kruger", "equation 5: both",
     "accuracy and agreement"),
    ("task_configs/medq_deg/README.md", r"`dke_intra_p` in (\d+) to (\d+) %", "dunning_kruger", "equation 5: p",
     "accuracy and agreement"),
    ("docs/metrics.yml", r"or less in (\d+) to (\d+) % of", "dunning_kruger", "equation 5: p",
     "accuracy and agreement"),
]  # fmt: skip


@pytest.mark.parametrize(("page", "said", "part", "about", "setting"), SAID)
def test_numbers_in_sentences_are_the_records(tables, page, said, part, about, setting):
    found = re.search(said, re.sub(r"\s+", " ", (ROOT / page).read_text("utf-8")))
    assert found, said
    own = {}
    for row in tables._rows(part):
        if re.match(about, row["about"]) and re.search(setting, row["setting"]):
            own.setdefault((row["about"], row["setting"]), round(float(row["value"])))
    stated = [int(each) for each in found.groups()]
    assert stated == ([min(own.values()), max(own.values())] if len(stated) == 2 else [*set(own.values())])


def test_rivals_are_the_formulas_of_their_sources(load):
    """Standard errors of a mean of unequal clusters: the harness's, and the sandwich of a linear model."""
    import numpy as np
    from lmms_eval.api.metrics import clustered_stderr

    sm = pytest.importorskip("statsmodels.api")
    rivals = load("simulations.rivals")
    rng = np.random.default_rng(1)
    sizes = np.array([1, 2, 3, 4, 5, 6, 7])
    scores, images = rng.random(sizes.sum()), np.repeat(np.arange(7), sizes)
    sums = np.bincount(images, weights=scores)
    data = rivals.Data(sums[None], sizes[None], np.array([(scores**2).sum()]))
    assert rivals.clustered_variance(data)[0] ** 0.5 == pytest.approx(
        clustered_stderr(scores.tolist(), images.tolist())
    )
    fit = sm.OLS(scores, np.ones(len(scores)))
    plain = fit.fit()
    assert rivals.independent_variance(data)[0] ** 0.5 == pytest.approx(plain.bse[0])
    # CR2 written out: residuals of a cluster by the inverse root of I - H.
    total, freedom = rivals.reduced_bias(data)
    n, projections, variance = len(scores), [], 0.0
    annihilator = np.eye(n) - 1 / n
    for image in range(7):
        own = images == image
        values, vectors = np.linalg.eigh(annihilator[np.ix_(own, own)])
        adjust = vectors @ np.diag(values**-0.5) @ vectors.T
        variance += (np.ones(own.sum()) @ adjust @ plain.resid[own]) ** 2 / n**2
        projections.append(annihilator[:, own] @ adjust @ np.ones(own.sum()) / n)
    assert total[0] == pytest.approx(variance)
    products = np.array(projections) @ np.array(projections).T
    assert freedom[0] == pytest.approx(np.trace(products) ** 2 / (products**2).sum())
    left_out = [scores[images != image].mean() for image in range(7)]
    assert rivals.jackknife_variance(data)[0] == pytest.approx(6 * np.var(left_out))
    clustered = fit.fit(cov_type="cluster", cov_kwds={"groups": images, "use_correction": False})
    assert (data.errors**2).sum() ** 0.5 / n == pytest.approx(clustered.bse[0])
