"""The observer of the bone phantoms: right from pixels, changed by other pixels, silent on other prompts."""

from __future__ import annotations

import pytest
from PIL import Image

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.task_configs.bones_joints import observer as bone_observer
from lmms_medtasks.task_configs.bones_joints import phantom as bone

DISEASES = list(bone_observer.phantom_texts()["diseases"].values())
OPTIONS = "\n".join(f"{letter}. {text}" for letter, text in zip("ABCDE", DISEASES, strict=True))
CHOICE = f"Look.\nQuestion: Which of these does the radiograph show?\nOptions:\n{OPTIONS}\nReply with the letter."


def picture(site, finding, seed=0, view="first", side="left"):
    facts = {"site": site, "finding": finding, "view": view, "side": side}
    return Image.fromarray(bone.draw_phantom(facts, seeded_generator("bone observer test", site, finding, seed)))


@pytest.mark.parametrize("view", bone.VIEWS)
def test_it_tells_findings_and_sites_from_pixels_it_never_saw(view):
    right = total = 0
    for number, site in enumerate(bone.SITES):
        for finding in bone.FINDINGS:
            found = bone_observer.finding_scores([picture(site, finding, view=view, side=bone.SIDES[number % 2])])
            right += max(found, key=found.get) == (site, finding)
            total += 1
    assert total == 35 and right >= 32  # chance is 1


def test_letters_follow_the_picture():
    for number, finding in enumerate(bone.FINDINGS):
        assert bone_observer.observer_reply([picture("knee", finding)], CHOICE) == "ABCDE"[number]


def prompt(site, last):
    return f"A case follows.\nChief complaint: Pain at the {site}.\nMedical history: Since {site} sport.\n{last}"


def test_open_answers():
    shown = [picture("wrist", "fracture", 1), picture("wrist", "fracture", 2, view="second")]
    assert bone_observer.observer_reply(shown, prompt("wrist", "Give the diagnosis.")) == "Fracture at the wrist."
    chain = bone_observer.observer_reply(shown, prompt("wrist", "Explain step by step how you reach the diagnosis."))
    assert "dark oblique gap" in chain and "Fracture at the wrist" in chain
    assert "fixation" in bone_observer.observer_reply(shown, prompt("wrist", "Recommend a treatment."))


def test_it_names_a_contradiction():
    said = bone_observer.observer_reply([picture("wrist", "fracture")], prompt("knee", "Give the diagnosis."))
    assert said == "The images show the wrist, but the text is about the knee: they do not belong together."


@pytest.mark.parametrize(
    "text",
    ["Question: How many lesions?\nA. One\nB. Two", "What is this?", prompt("skull", "Give the diagnosis."),
     prompt("knee and hip", "Give the diagnosis.")],
)  # fmt: skip
def test_other_prompts_are_not_its_own(text):
    assert bone_observer.observer_reply([picture("knee", "plate")], text) is None
