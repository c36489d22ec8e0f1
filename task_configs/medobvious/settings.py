"""The settings of MedObvious's tasks under ``lmms_eval_specific_kwargs: default``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator

from lmms_medtasks.task_yaml import settings
from lmms_medtasks.task_yaml.strict_model import OneOf


class MedObviousSettings(settings.TaskSettings):
    """The settings of MedObvious."""

    wording: Annotated[str, AfterValidator(OneOf("no such wording", ("neutral",)))] = settings.optional_setting(
        "Ask in words that are the same with and without an outlier.", "neutral"
    )
    system_prompt: bool = settings.optional_setting(
        "Begin with what the authors' system prompt says, in our words: prefer the normal option when in doubt, give "
        "the final answer only.",
        True,
        default=False,
    )
    new_tokens: dict[str, Any] = settings.optional_setting(
        "Limits of a reply's length by a column of the data, in place of max_new_tokens.",
        {"column": "task_type", "limits": {"detection_mcq": 32, "visual_referring": 64}},
    )


SETTINGS = MedObviousSettings
