"""Runs of the real harness: tiny random-weight models of real architectures, a launcher.

How a run costs a second and not fifteen: one process (``tests/harness_commands.py``, fixture ``commands``) has imported
the harness, is shared by all processes of a test session, and carries each command out in a fork of itself; torchrun,
accelerate and ``lmms-medtasks run`` start forks too. So a test asks the fixture ``harness`` (or ``commands``, for other
commands and other folders of tests) and starts no Python with ``sys.executable``. One run of two processes begins
anew, in ``test_subset.py``: it proves for all others that nothing rests on what was imported before. What costs then is
the run itself: a few questions (``--limit``), one run for many assertions, and for several tests of a file one run in
a fixture of the module's scope, made with ``harness_in``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lmms_medtasks.samples import result_files as results
from tests.conftest import QUIET

LETTERS = "ABCD"
LAUNCHERS = {
    "run": ("-m", "lmms_medtasks", "run"),
    "torchrun": ("-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "-m", "lmms_eval"),
}


@dataclass
class Finished:
    """A finished command of the harness: what it printed, and the folder of its results."""

    printed: str
    folder: Path

    @property
    def run(self) -> results.ResultFile:
        found = sorted(results.list_result_files(self.folder))
        assert found, self.printed[-4000:]
        return results.read_result_file(found[-1])

    def samples(self, task: str) -> list[dict]:
        """The task's sample log, sorted by document (two processes log in another order)."""
        lines = self.run.samples_file(task).read_text("utf-8").splitlines()
        return sorted((json.loads(line) for line in lines), key=lambda row: row["doc_id"])


@pytest.fixture(scope="session")
def harness_in(commands):
    """The fixture ``harness`` for runs in a folder: ``harness_in(folder)(arguments..., VARIABLE="value", ...)``.

    For a fixture of a module's scope, with ``tmp_path_factory``, so that several tests look at one run.
    """

    def of(home: Path):
        def call(
            *arguments: str,
            launcher: str | tuple[str, ...] = ("-m", "lmms_eval"),
            anew: bool = False,
            status: int | None = 0,
            **variables: str | None,
        ) -> Finished:
            folder = home / f"out{len(list(home.glob('out*')))}"
            folder.mkdir()
            own = {"MEDTASKS_HOME": str(home / "home"), "MEDTASKS_DATA": "mini", "HF_HOME": str(home / "hf")}
            environment = {**os.environ, **QUIET, **own, **variables}
            environment = {key: value for key, value in environment.items() if value is not None}
            python = sys.executable if anew else str(commands / "python")
            begin = LAUNCHERS[launcher] if isinstance(launcher, str) else launcher
            command = [python, *begin, *arguments, "--output_path", str(folder), "--log_samples"]
            done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
            printed = done.stdout + done.stderr
            assert status is None or done.returncode == status, printed[-3000:]
            assert status != 2 or "Traceback" not in printed, printed[-3000:]
            return Finished(printed, folder)

        return call

    return of


@pytest.fixture
def harness(harness_in, tmp_path):
    """Call as harness(arguments..., VARIABLE="value", ...): runs lmms-eval on the mini data, without network.

    It must end with ``status`` (None: with any), and with 2, which says a user's mistake, without a traceback. With
    ``launcher`` it is started in another way: a name of ``LAUNCHERS``, or what follows ``python``. Either way it is a
    command of ``tests/harness_commands.py``; with ``anew`` the real Python starts the harness.
    """
    return harness_in(tmp_path)


def _runner(name: str, folder: Path) -> str:
    """A folder for PYTHONPATH with which the harness knows the runner in ``NAME.py`` as a model of that name."""
    shutil.copy(Path(__file__).with_name(f"{name}.py"), folder)
    metadata = folder / f"{name}-0.dist-info"
    metadata.mkdir()
    dashed = name.replace("_", "-")
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dashed}\nVersion: 0\n", "utf-8")
    (metadata / "entry_points.txt").write_text(f"[lmms_eval.models]\n{name} = {name}:register\n", "utf-8")
    return str(folder)


@pytest.fixture(scope="session")
def batch_runner(tmp_path_factory) -> str:
    """A folder for PYTHONPATH with which the harness knows ``batch_runner.py`` as a model."""
    return _runner("batch_runner", tmp_path_factory.mktemp("batch_runner"))


@pytest.fixture(scope="session")
def shown_runner(tmp_path_factory) -> str:
    """A folder for PYTHONPATH with which the harness knows the models of ``shown_runner.py``."""
    return _runner("shown_runner", tmp_path_factory.mktemp("shown_runner"))


@pytest.fixture(scope="session")
def killed_runs(commands, tmp_path_factory):
    """The process of ``killed_runs.py``, which knows ``counting_runner.py`` as a model."""
    folder = tmp_path_factory.mktemp("killed_runs")
    path = os.pathsep.join(filter(None, [_runner("counting_runner", folder), os.environ.get("PYTHONPATH")]))
    program = [commands / "python", "-m", "killed_runs"]
    environment = {**os.environ, **QUIET, "PYTHONPATH": path, "HF_HOME": str(folder / "hf")}
    here = Path(__file__).parent
    with subprocess.Popen(program, stdin=-1, stdout=-1, text=True, env=environment, cwd=here) as process:
        assert process.stdout.readline() == "ready\n"
        yield process
        process.stdin.close()


def _tokenizer(special: list[str], **options):
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(["question answer image A B C D"], trainer)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, padding_side="left", **options)


def _saved(kind, config, processor, folder: Path) -> Path:
    """A checkpoint of random weights; only the letters A to D are generated, so that replies look like answers."""
    import torch

    torch.manual_seed(0)
    model = kind(config).to(torch.bfloat16)
    keep = set(processor.tokenizer.convert_tokens_to_ids(list(LETTERS)))
    others = [token for token in range(len(processor.tokenizer)) if token not in keep]
    model.generation_config.suppress_tokens = others
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_internvl(tmp_path_factory) -> Path:
    """An InternVL of about 100,000 random weights, for the chat runner internvl_hf."""
    import transformers as T

    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<img>", "</img>", "<IMG_CONTEXT>", "<video>"]
    extra = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    tokenizer = _tokenizer(names, eos_token=names[2], pad_token=names[0], extra_special_tokens=extra)
    number = tokenizer.convert_tokens_to_ids
    text = T.Qwen2Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, bos_token_id=0, eos_token_id=number("<|im_end|>"), pad_token_id=0,
    )  # fmt: skip
    vision = T.InternVLVisionConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, image_size=[56, 56],
        patch_size=[14, 14],
    )  # fmt: skip
    config = T.InternVLConfig(
        vision_config=vision, text_config=text, image_token_id=number("<IMG_CONTEXT>"), image_seq_length=4,
        downsample_ratio=0.5,
    )  # fmt: skip
    template = (
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for c in m['content'] %}"
        "{% if c['type'] == 'image' %}<IMG_CONTEXT>\n{% elif c['type'] == 'text' %}{{ c['text'] }}{% endif %}"
        "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    size = {"height": 56, "width": 56}
    processor = T.InternVLProcessor(
        image_processor=T.GotOcr2ImageProcessor(size=size, crop_to_patches=False),
        tokenizer=tokenizer,
        video_processor=T.InternVLVideoProcessor(size=size),
        image_seq_length=4,
        chat_template=template,
    )
    return _saved(T.InternVLForConditionalGeneration, config, processor, tmp_path_factory.mktemp("tiny") / "internvl")


@pytest.fixture(scope="session")
def tiny_gemma3(tmp_path_factory) -> Path:
    """A Gemma 3 of about 100,000 random weights, for the simple runner gemma3."""
    import transformers as T

    names = ["<pad>", "<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>", "<start_of_image>", "<end_of_image>",
             "<image_soft_token>"]  # fmt: skip
    extra = {"image_token": names[7], "boi_token": names[5], "eoi_token": names[6]}
    tokenizer = _tokenizer(
        names, eos_token=names[1], pad_token=names[0], bos_token=names[2], extra_special_tokens=extra
    )
    number = tokenizer.convert_tokens_to_ids
    text = T.Gemma3TextConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, bos_token_id=2, eos_token_id=1, pad_token_id=0, query_pre_attn_scalar=8,
    )  # fmt: skip
    vision = T.SiglipVisionConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2, image_size=56, patch_size=14,
    )  # fmt: skip
    config = T.Gemma3Config(
        text_config=text, vision_config=vision, mm_tokens_per_image=4, boi_token_index=number(names[5]),
        eoi_token_index=number(names[6]), image_token_index=number(names[7]),
    )  # fmt: skip
    template = (
        "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m['role'] }}\n{% if m['content'] is string %}"
        "{{ m['content'] }}{% else %}{% for c in m['content'] %}{% if c['type'] == 'image' %}<start_of_image>"
        "{% elif c['type'] == 'text' %}{{ c['text'] }}{% endif %}{% endfor %}{% endif %}<end_of_turn>\n{% endfor %}"
        "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
    )
    processor = T.Gemma3Processor(
        image_processor=T.Gemma3ImageProcessor(size={"height": 56, "width": 56}),
        tokenizer=tokenizer,
        chat_template=template,
        image_seq_length=4,
    )
    return _saved(T.Gemma3ForConditionalGeneration, config, processor, tmp_path_factory.mktemp("tiny") / "gemma3")
