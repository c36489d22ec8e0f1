"""Make a tiny LLaVA of random weights in a folder, as vLLM 0.32 loads it: run in the environment of install.py.

    python tools/real_servers/checkpoint.py FOLDER [--top_k 1]

550,000 weights from a fixed seed. Its next token is one of A, B, C and D with a probability near 1: every token's
embedding has one large part in common, and the head's rows of all other tokens lie against it. ``--top_k`` is what the
checkpoint's ``generation_config.json`` ships, with ``do_sample`` and temperature 1.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL = ["<pad>", "<s>", "</s>", "<image>"]
LETTERS = "ABCD"
_SHARED = 1.0  # of each embedding, in its first place; the other places have a deviation of 0.02
_AGAINST = 2.0
_SPREAD = 1.2
_TEMPLATE = (
    "{% for m in messages %}{{ m['role'] }}: {% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'text' %}{{ c['text'] }}{% else %}<image>{% endif %}{% endfor %}"
    "{% endif %}\n{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)


def tokenizer() -> transformers.PreTrainedTokenizerFast:
    """Bytes, and a few words."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=SPECIAL, initial_alphabet=alphabet)
    made.train_from_iterator(["question answer image A B C D"], trainer)
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", bos_token="<s>", eos_token="</s>",
        extra_special_tokens={"image_token": "<image>"},
    )  # fmt: skip


def model(words: transformers.PreTrainedTokenizerFast) -> transformers.LlavaForConditionalGeneration:
    """A LLaVA of two layers for pictures and two for text, in 32 bits."""
    vision = transformers.CLIPVisionConfig(
        hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=2, image_size=56, patch_size=14,
        projection_dim=64,
    )  # fmt: skip
    text = transformers.LlamaConfig(
        vocab_size=len(words), hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=4096, head_dim=64, bos_token_id=1, eos_token_id=2,
        pad_token_id=0,
    )  # fmt: skip
    image = words.convert_tokens_to_ids("<image>")
    config = transformers.LlavaConfig(
        vision_config=vision, text_config=text, image_token_index=image, image_token_id=image, vision_feature_layer=-1,
        vision_feature_select_strategy="default",
    )  # fmt: skip
    torch.manual_seed(0)
    made = transformers.LlavaForConditionalGeneration(config).to(torch.float32)
    letters = words.convert_tokens_to_ids(list(LETTERS))
    with torch.no_grad():
        made.get_input_embeddings().weight[:, 0] = _SHARED
        head = made.get_output_embeddings().weight
        head *= _SPREAD / 0.02 / head.shape[1] ** 0.5
        head[:, 0] = -_AGAINST
        head[letters, 0] = 0.0
    return made


def write(folder: Path, top_k: int | None) -> None:
    words = tokenizer()
    model(words).save_pretrained(folder)
    pictures = transformers.CLIPImageProcessor(size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56})
    transformers.LlavaProcessor(
        image_processor=pictures, tokenizer=words, patch_size=14, vision_feature_select_strategy="default",
        num_additional_image_tokens=1, chat_template=_TEMPLATE,
    ).save_pretrained(folder)  # fmt: skip
    shipped = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    if top_k is not None:
        shipped |= {"do_sample": True, "temperature": 1.0, "top_k": top_k}
    (folder / "generation_config.json").write_text(json.dumps(shipped), "ascii")
    # transformers 5 names them vision_tower.*, vLLM looks for vision_tower.vision_model.*
    file = folder / "model.safetensors"
    weights = {_as_vllm_names(name): each for name, each in load_file(file).items()}
    save_file(weights, file, metadata={"format": "pt"})


def _as_vllm_names(name: str) -> str:
    if "vision_model" in name:
        return name
    return name.replace("vision_tower.", "vision_tower.vision_model.", 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--top_k", type=int)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    write(given.folder, given.top_k)
