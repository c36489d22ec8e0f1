"""The observer: probabilities, temperature, filters, and that it answers from pixels and gets worse with them."""

from __future__ import annotations

import io

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from lmms_medtasks.baselines import canvas, observer
from lmms_medtasks.baselines.observer import SIDE, FilterBank, FilteredImage, PhantomObserver, log_likelihoods
from lmms_medtasks.data import mini
from lmms_medtasks.harness import hooks
from lmms_medtasks.seeding import seeded_generator

SETTINGS = {"prompt": "medq_deg/prompt.txt"}


@pytest.fixture(scope="module")
def rows():
    """Every fourth question of the mini data, with its prompt and its picture."""
    chosen = pq.read_table(mini.mini_file("medq_deg", "clean")).to_pylist()[::4]
    return [(row, hooks.doc_to_text(row, SETTINGS), Image.open(io.BytesIO(row["image"]["bytes"]))) for row in chosen]


def _prompt(question: str, *options: str) -> str:
    return hooks.doc_to_text({"question": question, "options": list(options)}, SETTINGS)


def _seen(rows):
    """Those rows whose question is about facts that the observer can see: its probabilities differ."""
    return [each for each in rows if len(set(PhantomObserver().probabilities(each[2], each[1]).values())) > 1]


def _accuracy(rows, change) -> float:
    """Mean probability of the right answer at temperature 1: the expected accuracy of a trial."""
    seeing = PhantomObserver()
    return float(np.mean([seeing.probabilities(change(image), prompt)[row["answer"]] for row, prompt, image in rows]))


def _noisy(sigma):
    def change(image):
        pixels = np.asarray(image.convert("RGB")).astype(float)
        noise = sigma * seeded_generator("observer test", sigma).standard_normal(pixels.shape)
        return Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8))

    return change


def _coarse(factor):
    def change(image):
        small = image.resize((image.width // factor, image.height // factor), Image.Resampling.BOX)
        return small.resize(image.size, Image.Resampling.BILINEAR)

    return change


def test_clean_pictures_are_read_well_and_worse_ones_worse(rows):
    clean = _accuracy(rows, lambda image: image)
    assert 0.85 < clean < 0.97
    for mild, severe in ((_noisy(30), _noisy(80)), (_coarse(4), _coarse(12))):
        assert clean > _accuracy(rows, mild) + 0.01 > _accuracy(rows, severe) + 0.05


def test_another_picture_of_the_modality_gets_chance(rows):
    # The right answer must come from this picture: shown another one, the same prompt gets no more than chance.
    by_modality: dict[str, list] = {}
    for row, prompt, image in rows:
        if "imaging method" not in row["question"]:  # any picture of the modality answers that
            by_modality.setdefault(row["modality"], []).append((row, prompt, image))
    seeing = PhantomObserver()
    got, chance = [], []
    for entries in by_modality.values():
        for (row, prompt, _), (other, _, image) in zip(entries, entries[5:] + entries[:5], strict=True):
            if other["image_id"] != row["image_id"]:
                got.append(seeing.probabilities(image, prompt)[row["answer"]])
                chance.append(1 / len(row["options"]))
    # The right answers of about 80 questions are independent of the other pictures: standard error about 0.05.
    assert abs(np.mean(got) - np.mean(chance)) < 0.15


def test_a_resized_picture_gives_nearly_the_same_answer(rows):
    seeing = PhantomObserver()
    same = []
    for _, prompt, image in rows:
        whole, small = (seeing.probabilities(i, prompt) for i in (image, image.resize((336, 280))))
        same.append(max(whole, key=whole.get) == max(small, key=small.get))
    assert np.mean(same) > 0.9


def test_probabilities_add_up_and_follow_the_options(rows):
    row, prompt, image = rows[0]
    seeing = PhantomObserver()
    found = seeing.probabilities(image, prompt)
    assert list(found) == list("ABCDE"[: len(row["options"])])
    assert sum(found.values()) == pytest.approx(1)
    order = list(range(len(row["options"])))[::-1]
    turned = {**row, "options": [row["options"][i] for i in order]}
    other = seeing.probabilities(image, hooks.doc_to_text(turned, SETTINGS))
    for place, i in enumerate(order):
        assert other["ABCDE"[place]] == pytest.approx(found["ABCDE"[i]])


def test_the_mode_of_the_picture_does_not_matter(rows):
    row, prompt, image = next(entry for entry in rows if entry[2].mode == "L")
    assert PhantomObserver().probabilities(image, prompt) == PhantomObserver().probabilities(
        image.convert("RGB"), prompt
    )


def test_temperature_sharpens_and_flattens(rows):
    seeing = PhantomObserver()
    for _, prompt, image in _seen(rows)[:10]:
        cold, warm, hot = (max(seeing.probabilities(image, prompt, t).values()) for t in (0, 1, 5))
        assert 1 == cold >= warm >= hot


def test_temperature_is_a_softmax_over_log_likelihoods(rows):
    _, prompt, image = rows[1]
    seeing = PhantomObserver()
    # At temperature t the probabilities are those at 1 to the power of 1 / t, made to add up to 1.
    weights = {letter: p ** (1 / 2.5) for letter, p in seeing.probabilities(image, prompt).items()}
    expected = {letter: weight / sum(weights.values()) for letter, weight in weights.items()}
    assert seeing.probabilities(image, prompt, 2.5) == pytest.approx(expected)


def test_answers_are_drawn_from_the_probabilities(rows):
    seeing = PhantomObserver()
    _, prompt, image = min(_seen(rows), key=lambda entry: max(seeing.probabilities(entry[2], entry[1]).values()))
    found = seeing.probabilities(image, prompt)
    rng = seeded_generator("observer draws")
    drawn = [seeing.answer(image, prompt, 1.0, rng) for _ in range(2000)]
    for letter, p in found.items():
        # Three standard deviations of a share of 2000 draws.
        assert drawn.count(letter) / 2000 == pytest.approx(p, abs=3 * np.sqrt(p * (1 - p) / 2000) + 1e-9)
    assert {seeing.answer(image, prompt, 0.0, rng) for _ in range(20)} == {max(found, key=found.get)}


def test_an_unknown_question_gets_equal_probabilities(rows):
    image = rows[0][2]
    found = PhantomObserver().probabilities(image, _prompt("What is the capital of France?", "Paris", "Rome", "Bonn"))
    assert found == pytest.approx({"A": 1 / 3, "B": 1 / 3, "C": 1 / 3})


def test_a_known_question_with_other_options_gets_equal_probabilities(rows):
    row, _, image = rows[0]
    found = PhantomObserver().probabilities(image, _prompt(row["question"], "Paris", "Rome"))
    assert found == {"A": 0.5, "B": 0.5}


@pytest.mark.parametrize("level", [0, 128, 255])
def test_a_blank_picture_gets_equal_probabilities(rows, level):
    for row, prompt, _ in rows[:7]:
        found = PhantomObserver().probabilities(Image.new("RGB", (200, 200), (level,) * 3), prompt)
        assert found == pytest.approx(dict.fromkeys(found, 1 / len(row["options"])))


def test_a_picture_of_nothing_known_is_weak_evidence(rows):
    levels = seeded_generator("nothing known").integers(0, 256, (6, 6, 3), dtype=np.uint8)
    patches = Image.fromarray(levels).resize((210, 210), Image.Resampling.BICUBIC)
    seeing = PhantomObserver()
    clean = np.mean([max(seeing.probabilities(image, prompt).values()) for _, prompt, image in rows])
    unlike = np.mean([max(seeing.probabilities(patches, prompt).values()) for _, prompt, _ in rows])
    assert unlike < clean - 0.25


def test_an_open_question_has_no_letters(rows):
    seeing = PhantomObserver()
    assert seeing.probabilities(rows[0][2], "Describe the picture.") == {}
    assert seeing.answer(rows[0][2], "Describe the picture.", 1.0, seeded_generator("open")) == ""


def test_an_open_question_of_the_mini_data_gets_the_text_that_the_picture_shows():
    settings = {"prompt": "med_cmr/prompt_open.txt"}
    open_rows = pq.read_table(mini.mini_file("med_cmr", "open")).to_pylist()
    seeing, right = PhantomObserver(), 0
    for row in open_rows:
        image = Image.open(io.BytesIO(row["image"]["bytes"]))
        reply = seeing.answer(image, hooks.doc_to_text(row, settings), 0.0, seeded_generator("open"))
        assert reply.startswith("Reasoning: matched filters see this most of ")
        right += reply.partition("\nAnswer: ")[2] == row["answer"]
    assert right > 0.85 * len(open_rows)
    # The answer alone where no reasoning is asked for; nothing to see, nothing to say.
    first = open_rows[0]
    assert "Reasoning" not in seeing.answer(image, f"Question: {first['question']}", 0.0, seeded_generator("open"))
    assert seeing.answer(Image.new("L", (64, 64)), first["question"], 0.0, seeded_generator("open")) == ""


def test_what_is_remembered_does_not_change_answers(rows):
    seeing = PhantomObserver()
    asked = [entry for entry in rows[:6] for _ in range(2)]
    found = [seeing.probabilities(image, prompt) for _, prompt, image in asked]
    assert found == [PhantomObserver().probabilities(image, prompt) for _, prompt, image in asked]


def test_a_pictures_trials_cost_one_look(rows, monkeypatch):
    looks = []
    monkeypatch.setattr(observer, "FilteredImage", lambda image: looks.append(image) or FilteredImage(image))
    seeing = PhantomObserver()
    for _, prompt, image in rows[:3]:
        for _ in range(4):
            seeing.probabilities(image, prompt)
    assert len(looks) == 3


def test_log_likelihoods_by_hand(monkeypatch):
    monkeypatch.setattr(observer, "INTERNAL_NOISE", 1.0)
    monkeypatch.setattr(observer, "DEGREES_OF_FREEDOM", 3.0)
    found = log_likelihoods(np.array([3.0]), {"means": {"a": [0.0], "b": [4.0]}, "within": [[2.0]]})
    # Variance: 2 between phantoms + 2 internal = 4. Squared distances: 9 / 4 and 1 / 4.
    # Student t with 3 degrees of freedom, one response: (1 + d / 3) ^ -2.
    assert found["a"] == pytest.approx(-2 * np.log(1 + 2.25 / 3))
    assert found["b"] == pytest.approx(-2 * np.log(1 + 0.25 / 3))


MIDDLE = [(0.0, 0.0)]


def _view(*discs: tuple[tuple[float, float], float, float], ground: float = 100.0) -> FilteredImage:
    """A flat picture with discs of (place, radius, level)."""
    picture = np.full((SIDE, SIDE), ground)
    for at, radius, level in discs:
        canvas.paint_mask(picture, canvas.ellipse_mask(canvas.make_grid(SIDE), at, (radius, radius)), level)
    return FilteredImage(Image.fromarray(canvas.to_bytes(picture)))


def test_a_level_is_that_of_a_flat_place():
    levels = FilterBank("level", "grey", (0.03,), [(0.5, -0.5), (-0.5, 0.5)]).responses(
        _view(((0.5, -0.5), 0.2, 180.0))
    )
    assert levels == pytest.approx([180, 100], abs=0.5)


def test_colour_planes_by_hand():
    view = FilteredImage(Image.new("RGB", (50, 50), (200, 100, 40)))
    # red: 200 - 50 - 20 = 130; green: 100 - 100 - 20 = -20; blue: 40 - 100 - 50 = -110; grey: 60 + 59 + 4.4 = 123.4.
    for name, level in {"red": 130, "green": -20, "blue": -110, "grey": 123.4, "r": 200, "g": 100, "b": 40}.items():
        assert FilterBank("level", name, (0.1,), MIDDLE).responses(view) == pytest.approx([level], abs=1e-3)


def test_a_spot_filter_prefers_discs_of_its_size_and_ignores_the_level():
    spot = FilterBank("spot", "grey", (0.05,), MIDDLE)
    (small,), (large,) = (spot.responses(_view(((0, 0), r, 160.0))) for r in (0.05, 0.2))
    assert small > 2 * large
    assert spot.responses(_view(((0, 0), 0.05, 190.0), ground=130.0)) == pytest.approx([small], rel=0.02)
    assert spot.responses(_view()) == pytest.approx([0], abs=1e-3)


def test_a_disc_off_its_site_is_within_reach():
    view = _view(((0.33, 0.17), 0.05, 160.0))
    near, beside = (FilterBank("spot", "grey", (0.05,), [(0.25, 0.25)], reach).responses(view) for reach in (0.1, 0.0))
    assert near == pytest.approx(FilterBank("spot", "grey", (0.05,), [(0.33, 0.17)], 0.02).responses(view))
    assert near[0] > 10 > beside[0]


def test_holes_are_dark_spots_and_either_is_both():
    view = _view(((0, 0), 0.05, 40.0))
    spot, hole, either = (
        FilterBank(kind, "grey", (0.05,), MIDDLE).responses(view)[0] for kind in ("spot", "hole", "either")
    )
    assert -spot == hole == either > 10


def test_ranked_responses_count_signals_wherever_they_are():
    sites = [(-0.5, 0), (0, 0), (0.5, 0)]
    view = _view(((0.5, 0), 0.05, 160.0), ((-0.5, 0), 0.05, 150.0))
    left, middle, right = FilterBank("spot", "grey", (0.05,), sites, 0.02).responses(view)
    assert FilterBank("spot", "grey", (0.05,), sites, 0.02, ranked=True).responses(view) == [right, left, middle]


def test_texture_is_the_log_of_the_deviation_of_noise():
    noise = seeded_generator("texture").normal(128, 20, (SIDE, SIDE))
    view = FilteredImage(Image.fromarray(np.clip(noise, 0, 255).astype(np.uint8)))
    # Of white noise nearly all is finer than 0.1, 6 pixels.
    assert FilterBank("texture", "r", (0.1,), MIDDLE).responses(view) == pytest.approx([np.log(21)], abs=0.1)


def test_any_mode_and_size_can_be_viewed():
    for mode in ("1", "L", "P", "RGB", "RGBA"):
        assert FilteredImage(Image.new(mode, (37, 61))).rgb.shape == (SIDE, SIDE, 3)
