"""``medtasks_peft``: a runner of the harness whose model gets a PEFT adapter: LoRA, IA3, prompt tuning and others.

The harness has no argument for adapters. If a runner gets a folder with an ``adapter_config.json``, transformers loads
base and adapter, but not prompt tuning, and the runner needs the processor's files in the folder too. Here the runner
loads the base, and PEFT puts the adapter on the runner's model.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from lmms_eval import utils
from lmms_eval.api.model import lmms

from lmms_medtasks.errors import UserError, unknown_name_error, user_errors

CONFIG = "adapter_config.json"


class _Adapted(lmms):
    """Creates the instance of a runner; never instantiated itself."""

    @classmethod
    def create_from_arg_string(cls, arg_string: str, additional_config: dict[str, Any] | None = None) -> lmms:
        """The runner's own instance, its model wrapped by PEFT.

        Arguments: ``pretrained``, the adapter's folder; ``runner``, the harness's name of the runner; ``base``, the
        base model (default: the one in the adapter's configuration). All others are the runner's. Raises UserError if
        the folder holds no adapter, the base is not known, or the two do not fit.
        """
        with user_errors():
            arguments = utils.simple_parse_args_string(arg_string)
            adapter = _adapter_folder(arguments.pop("pretrained", None))
            runner = _runner_class(arguments.pop("runner", None), cls.is_simple)
            base = arguments.pop("base", None) or _base_model(adapter)
            given = {name: value for name, value in (additional_config or {}).items() if value is not None}
            instance = runner(pretrained=str(base), **arguments, **given)
            return put_adapter_on(instance, adapter)


class ChatAdapted(_Adapted):
    """``medtasks_peft``: with the runner's chat form if it has one."""

    is_simple = False


class SimpleAdapted(_Adapted):
    """``medtasks_peft --force_simple``: with the runner's simple form."""

    is_simple = True


def put_adapter_on(runner: lmms, adapter: Path) -> lmms:
    """Put the adapter on a runner's model, and return the runner.

    Raises UserError if the runner has no transformers model, or the adapter does not fit it completely: PEFT alone
    would go on with what fits.
    """
    from peft import PeftModel
    from transformers import PreTrainedModel

    model = getattr(runner, "_model", None)
    if not isinstance(model, PreTrainedModel):
        raise UserError(
            f"The runner {type(runner).__name__} holds a {type(model).__name__}, no plain transformers model that an "
            "adapter could be put on. Choose a runner of transformers models, and no sharded launch (FSDP, DeepSpeed)."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            adapted = PeftModel.from_pretrained(model, str(adapter))
        except (ValueError, RuntimeError, KeyError) as error:
            raise UserError(f"The adapter {adapter} can't be put on {model.config.name_or_path}: {error}") from error
    misfits = [str(warning.message) for warning in caught if "adapter keys" in str(warning.message)]
    if misfits:
        raise UserError(f"The adapter {adapter} does not fit {model.config.name_or_path}: {misfits[0][:500]}")
    runner._model = adapted.eval()
    return runner


def _adapter_folder(given: object) -> Path:
    if not given:
        raise UserError("medtasks_peft needs the adapter's folder: --model_args pretrained=FOLDER,runner=NAME.")
    folder = Path(str(given)).expanduser()
    if not (folder / CONFIG).is_file():
        raise UserError(
            f"No adapter in {folder}: it has no {CONFIG}. Give the folder that PEFT's save_pretrained wrote."
        )
    return folder


def _base_model(adapter: Path) -> str:
    import json

    base = json.loads((adapter / CONFIG).read_text("utf-8")).get("base_model_name_or_path")
    if not base:
        raise UserError(f"{adapter / CONFIG} does not say its base model. Name it: --model_args ...,base=MODEL.")
    return str(base)


def _runner_class(name: object, force_simple: bool) -> type[lmms]:
    from lmms_eval.models import MODEL_REGISTRY_V2

    known = MODEL_REGISTRY_V2.list_canonical_model_ids()
    if not name:
        raise UserError("medtasks_peft needs a runner of the harness: --model_args runner=internvl_hf,...")
    try:
        resolved = MODEL_REGISTRY_V2.resolve(str(name), force_simple=force_simple)
    except ValueError as error:
        raise unknown_name_error("runner", name, known, "--model_args") from error
    return MODEL_REGISTRY_V2.get_model_class(resolved.model_id, force_simple=force_simple)
