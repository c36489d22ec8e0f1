"""PEFT adapters on the tiny model, through a runner of the harness: what they do is what their definitions say."""

import json
import re
import shutil

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.plugin import register

pytest.importorskip("peft")

ARGUMENTS = {"device": "cpu", "batch_size": 1}


def configs():
    import peft

    return {
        "lora": peft.LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"),
        "ia3": peft.IA3Config(
            target_modules=["k_proj", "down_proj"], feedforward_modules=["down_proj"], task_type="CAUSAL_LM"
        ),
        "prompt": peft.PromptTuningConfig(num_virtual_tokens=4, task_type="CAUSAL_LM", token_dim=32, num_layers=2,
                                          num_attention_heads=4),
    }  # fmt: skip


@pytest.fixture(scope="module")
def adapters(tiny_internvl, tmp_path_factory):
    """Kind to the folder of an adapter of random weights, as PEFT saves it."""
    import peft
    import torch
    import transformers

    found = {}
    for kind, config in configs().items():
        base = transformers.InternVLForConditionalGeneration.from_pretrained(tiny_internvl, dtype=torch.bfloat16)
        model = peft.get_peft_model(base, config)
        torch.manual_seed(3)
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                parameter.data.normal_(float("ia3" in name), 1.0)
        found[kind] = tmp_path_factory.mktemp("adapters") / f"{kind}_seed3"
        model.save_pretrained(found[kind])
    return found


def adapted(folder, more="", force_simple=False):
    from lmms_medtasks.harness.adapted_models import ChatAdapted, SimpleAdapted

    made = SimpleAdapted if force_simple else ChatAdapted
    return made.create_from_arg_string(f"pretrained={folder},runner=internvl_hf,device_map=cpu{more}", ARGUMENTS)


def by_hand(kind, base, weights):
    """The base with what the adapter's paper says done to its weights."""
    import torch

    modules = dict(base.named_modules())
    with torch.no_grad():
        for name, weight in weights.items():
            path = name.removeprefix("base_model.model.").rpartition(".lora_A")[0]
            if kind == "lora" and path:
                # Hu et al. 2021: W + alpha / r * B A
                change = weights[name.replace("lora_A", "lora_B")].float() @ weight.float()
                modules[path].weight += (8 / 4 * change).to(torch.bfloat16)
            if kind == "ia3":
                # Liu et al. 2022: keys scaled after, the feed-forward's last layer before its matrix
                target = modules[name.removeprefix("base_model.model.").removesuffix(".ia3_l")]
                target.weight.mul_(weight.to(torch.bfloat16))
                if target.bias is not None and weight.shape[0] != 1:
                    target.bias.mul_(weight.flatten().to(torch.bfloat16))
    return base


def inputs(folder, brightness):
    import torch
    import transformers
    from PIL import Image

    processor = transformers.AutoProcessor.from_pretrained(folder)
    content = [{"type": "image"}, {"type": "text", "text": "Which one?"}]
    text = processor.apply_chat_template([{"role": "user", "content": content}], add_generation_prompt=True)
    image = Image.linear_gradient("L").resize((56, 56)).point(lambda value: value * brightness).convert("RGB")
    return processor(images=[image], text=text, return_tensors="pt").to("cpu", torch.bfloat16)


def first_scores(model, given):
    found = model.generate(
        **given, do_sample=False, max_new_tokens=1, pad_token_id=0, output_scores=True, return_dict_in_generate=True
    )
    return found.scores[0][0].float()


@pytest.mark.parametrize("kind", ["lora", "ia3", "prompt"])
def test_an_adapter_does_what_it_is_defined_to_do(kind, adapters, tiny_internvl):
    import torch
    import transformers
    from safetensors.torch import load_file

    instance = adapted(adapters[kind])
    assert type(instance).__name__ == "InternVLHf" and not instance.is_simple
    given = inputs(tiny_internvl, 1.0)
    base = transformers.InternVLForConditionalGeneration.from_pretrained(tiny_internvl, dtype=torch.bfloat16).eval()
    plain = first_scores(base, given)
    weights = load_file(adapters[kind] / "adapter_model.safetensors")
    if kind == "prompt":
        # Lester et al. 2021: learnt embeddings before those of the prompt
        embedded = base.get_input_embeddings()(given.input_ids)
        before = weights["prompt_embeddings"][None].to(embedded.dtype)
        whole = torch.cat([before, embedded], dim=1)
        mask = torch.ones(whole.shape[:2], dtype=torch.long)
        with torch.no_grad():
            logits = base(inputs_embeds=whole, pixel_values=given.pixel_values, attention_mask=mask).logits[0, -1]
        expected = logits.float()
    else:
        expected = first_scores(by_hand(kind, base, weights), given)
    found = first_scores(instance.model, given)
    asked = torch.isfinite(found)  # all other tokens are suppressed
    assert asked.sum() == 4
    tolerance = 0.1 * (expected - plain)[asked].abs().max().item()
    assert tolerance > 0
    assert torch.allclose(found[asked], expected[asked], atol=tolerance)
    dark = first_scores(instance.model, inputs(tiny_internvl, 0.0))
    assert not torch.equal(found[asked], dark[asked])  # the picture reaches the model


def test_through_the_harness(harness, adapters):
    """The whole way: the adapter's folder is the model's name, replies are read and scored."""
    done = harness(
        "--model", "medtasks_peft",
        "--model_args", f"pretrained={adapters['prompt']},runner=internvl_hf,device_map=cpu",
        "--device", "cpu", "--tasks", "medq_deg_l0", "--limit", "3",
        "--gen_kwargs", "max_new_tokens=1,temperature=0,do_sample=False",
    )  # fmt: skip
    rows = done.samples("medq_deg_l0")
    assert [len(row["filtered_resps"]) for row in rows] == [3, 3, 3]
    assert all(set(row["filtered_resps"]) <= set("ABCD") for row in rows)
    from lmms_medtasks.samples.runs import model_name

    assert model_name(done.run.content).endswith("prompt_seed3")


def test_it_is_registered_in_both_forms():
    (found,) = (each for each in register() if each.model_id == "medtasks_peft")
    assert found.chat_class_path.endswith(".ChatAdapted") and found.simple_class_path.endswith(".SimpleAdapted")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", r"needs the adapter's folder: --model_args pretrained=FOLDER"),
        ("pretrained=/nowhere,runner=internvl_hf", r"No adapter in /nowhere: it has no adapter_config\.json"),
        ("pretrained={lora}", r"needs a runner"),
        ("pretrained={lora},runner=internvl_hff", r"Unknown runner 'internvl_hff' in --model_args\. Did you mean"),
    ],
)
def test_mistakes_in_the_arguments(arguments, message, adapters):
    from lmms_medtasks.harness.adapted_models import ChatAdapted

    with pytest.raises(UserError, match=message):
        ChatAdapted.create_from_arg_string(arguments.format(**adapters), ARGUMENTS)


def test_a_runner_without_a_model_of_its_own_is_refused(adapters):
    from lmms_medtasks.harness.adapted_models import put_adapter_on
    from lmms_medtasks.harness.baseline_models import RandomModel

    with pytest.raises(UserError, match="RandomModel holds a NoneType, no plain transformers model"):
        put_adapter_on(RandomModel(), adapters["lora"])


def altered(source, target, **changes):
    """A copy of an adapter with other settings in its configuration."""
    shutil.copytree(source, target)
    path = target / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}))
    return target


def test_the_base_is_the_one_named(adapters, tiny_internvl, tmp_path):
    folder = altered(adapters["lora"], tmp_path / "lora", base_model_name_or_path=None)
    with pytest.raises(UserError, match=r"adapter_config\.json does not say its base model\. Name it: .*base=MODEL"):
        adapted(folder)
    assert adapted(folder, f",base={tiny_internvl}").model.active_adapter == "default"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target_modules": ["no_such_module"]}, "can't be put on"),
        ({"r": 8}, "can't be put on"),
        ({"target_modules": ["q_proj", "v_proj", "k_proj"]}, "does not fit .*k_proj"),
    ],
)
def test_an_adapter_of_another_model_is_refused(changes, message, adapters, tmp_path):
    folder = altered(adapters["lora"], tmp_path / "lora", **changes)
    with pytest.raises(UserError, match=re.compile(message, re.DOTALL)):
        adapted(folder)
