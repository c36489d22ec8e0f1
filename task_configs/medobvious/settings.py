"""What only the tasks on this data may say under ``lmms_eval_specific_kwargs: default``."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from lmms_medtasks.task_yaml import settings
from lmms_medtasks.task_yaml.strict_model import OneOf


class Settings(settings.Settings):
    """The settings of MedObvious."""

    wording: Annotated[str, AfterValidator(OneOf("no such wording", ("neutral",)))] = settings.setting(
        "Ask in words that are the same with and without an outlier.", "neutral"
    )
