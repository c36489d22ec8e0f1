"""A picture sent through the harness's own runners, without weights or keys, against what runners.yaml says of them."""

import base64
import io
import re
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import pictures
from lmms_medtasks.harness import runners
from tests.bare_runners import chat_request, chat_server, request, runner


def noise(width, height):
    """A picture of noise: no lossy encoding leaves it as it is."""
    values = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(values)


def decoded(text):
    """A picture from its base64, with or without the beginning of a data URL."""
    return Image.open(io.BytesIO(base64.b64decode(text.rpartition("base64,")[2])))


def by_method(name):
    return lambda lm, picture: decoded(getattr(lm, name)(picture))


def temporary_file(lm, picture):
    with lm.save_image_to_temp_file(picture) as file:
        return Image.open(file.name).copy()


class Stop(Exception):
    """The processor has what it needs."""


def processor_door(lm, picture):
    """What the processor of a transformers model gets."""
    got = {}

    class Processor:
        tokenizer = SimpleNamespace(padding_side="left")

        def apply_chat_template(self, messages, **settings):
            return ["x"] if isinstance(messages[0], list) else "x"

        def __call__(self, **given):
            got.update(given)
            raise Stop

    type(lm).processor = Processor()
    with pytest.raises(Stop):
        lm.generate_until([chat_request(content=[{"type": "image", "url": picture}], temperature=0.0)])
    images = got["images"]
    while isinstance(images, list):
        [images] = images
    return images


def model_door(lm, picture):
    """What the model of xcomposer2d5 finds in the file that it is given."""
    shown = []

    def chat(tokenizer, text, image, **settings):
        shown.append(Image.open(image[0]).copy())
        return "B", None

    type(lm).model = SimpleNamespace(chat=chat)
    lm.generate_until([request("q", hook=lambda doc: [picture])])
    return shown[0]


QWEN = {"max_pixels": 1605632, "min_pixels": 200704, "fps": None, "max_num_frames": 32}
ENCODER = by_method("_encode_image_data_url")
DOORS = {
    "chat.internvl_hf": ("InternVLHf", processor_door),
    "chat.llava_onevision1_5": ("Llava_OneVision1_5", processor_door),
    "chat.qwen2_5_vl": ("Qwen2_5_VL", processor_door),
    "chat.qwen3_vl": ("Qwen3_VL", processor_door),
    "simple.claude": ("Claude", by_method("encode_image")),
    "simple.gemma3": ("Gemma3", ENCODER),
    "simple.gemma4": ("Gemma4", ENCODER),
    "simple.glm4v": ("GLM4V", by_method("_image_to_base64")),
    "simple.gpt4v": ("GPT4V", by_method("encode_image")),
    "simple.llama4_scout": ("Llama4Scout", by_method("_image_to_base64")),
    "simple.openai": ("OpenAICompatible", by_method("encode_image")),
    "simple.qwen2_5_vl": ("Qwen2_5_VL", ENCODER),
    "simple.qwen2_vl": ("Qwen2_VL", ENCODER),
    "simple.qwen_vl_api": ("Qwen_VL_API", temporary_file),
    "simple.vora": ("VoRA", ENCODER),
    "simple.xcomposer2d5": ("XComposer2D5", model_door),
}
SERVED = {"chat.async_openai": "AsyncOpenAIChat", "chat.openai": "OpenAICompatible"}


@pytest.fixture
def probe(tmp_path, monkeypatch):
    """Call as probe(module, picture): the picture as it leaves the runner."""
    monkeypatch.delenv("LMMS_IMAGE_ENCODE_FORMAT", raising=False)
    attributes = {
        **QWEN, "accelerator": SimpleNamespace(is_main_process=False), "min_patches": 1, "max_patches": 12,
        "num_frames": None, "system_prompt": "s", "world_size": 1, "total_pixels": None, "enable_thinking": None,
        "max_size_in_mb": 20, "modality": "image", "tmp_folder": str(tmp_path), "device_map": "cpu",
    }  # fmt: skip

    def call(module, picture, **changed):
        if module in SERVED:
            found = getattr(pytest.importorskip(f"lmms_eval.models.{module}"), SERVED[module])
            return served(found, picture)
        name, door = DOORS[module]
        return door(runner(module, name, **{**attributes, **changed}), picture)

    return call


def served(found, picture):
    with chat_server() as server:
        lm = found(model="stub", base_url=server.url, api_key="x", max_retries=1)
        lm.task_dict = {"t": {"test": [0]}}
        lm.generate_until([chat_request(content=[{"type": "image", "url": picture}])])
        [image] = [part for part in server.requests[0]["messages"][0]["content"] if part["type"] == "image_url"]
        return decoded(image["image_url"]["url"])


def as_jpeg(picture, quality):
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=quality)
    return Image.open(buffer)


def same(one, two):
    return one.size == two.size and bool((np.asarray(one.convert("RGB")) == np.asarray(two.convert("RGB"))).all())


def test_what_is_said_to_be_measured_is_measured_here():
    assert sorted({*DOORS, *SERVED}) == runners.load_runners()["measured"]


@pytest.mark.parametrize("module", sorted({*DOORS, *SERVED}))
def test_a_picture_leaves_the_runner_as_the_table_says(probe, module):
    known = runners.load_runners()
    multiple = known["resampled"].get(module, 1)
    picture = pictures.to_rgb8(noise(8 * multiple if multiple > 1 else 100, 10 * multiple if multiple > 1 else 75))
    leaves = probe(module, picture)
    if module in known["lossy"]:
        quality = int(re.search(r"quality (\d+)", known["lossy"][module])[1])
        assert same(leaves, as_jpeg(picture, quality)) and not same(leaves, picture)
    else:
        assert same(leaves, picture)
    if module in known["resampled"]:
        other = probe(module, noise(8 * multiple + 5, 10 * multiple + 3))
        assert other.size == (8 * multiple, 10 * multiple)


@pytest.mark.parametrize("module", ["simple.gpt4v", "simple.openai"])
def test_a_large_picture_is_shrunk_where_the_table_says(probe, module):
    assert runners.load_runners()["shrunk_above"][module] == "20 MB as PNG"
    assert same(probe(module, noise(100, 75)), noise(100, 75))
    assert probe(module, noise(400, 300), max_size_in_mb=0.25).size == (300, 225)


def test_claude_shrinks_a_large_picture():
    lm = runner("simple.claude", "Claude")
    small, large = noise(400, 400), noise(1300, 1300)  # 5.1 MB as PNG
    assert lm.shrink_image_to_file_size(small).size == (400, 400)
    assert lm.shrink_image_to_file_size(large).width < 1300


def test_the_format_of_chat_runners_of_servers_is_what_the_variable_says(probe, monkeypatch):
    picture = noise(64, 64)
    monkeypatch.setenv("LMMS_IMAGE_ENCODE_FORMAT", "JPEG")
    monkeypatch.delenv("LMMS_IMAGE_JPEG_QUALITY", raising=False)
    for module, name in SERVED.items():
        found = getattr(pytest.importorskip(f"lmms_eval.models.{module}"), name)
        assert same(served(found, picture), as_jpeg(picture, 85))
