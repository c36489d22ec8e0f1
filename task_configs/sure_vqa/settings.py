"""The settings of SURE-VQA's tasks under ``lmms_eval_specific_kwargs: default``."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from lmms_medtasks.task_yaml import settings
from lmms_medtasks.task_yaml.strict_model import OneOf


class SureVqaSettings(settings.TaskSettings):
    """The settings of SURE-VQA."""

    judge_rule: Annotated[str, AfterValidator(OneOf("no such rule", ("paper",)))] = settings.optional_setting(
        "What is settled without the judge: an exact match of the texts as they are, and nothing else.", "paper"
    )


SETTINGS = SureVqaSettings
