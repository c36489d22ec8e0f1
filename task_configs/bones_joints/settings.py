"""The settings of Bones and Joints' tasks under ``lmms_eval_specific_kwargs: default``."""

from __future__ import annotations

from lmms_medtasks.task_yaml import settings


class BonesJointsSettings(settings.TaskSettings):
    """The settings of Bones and Joints."""

    report: bool = settings.optional_setting("Give the model the radiology report instead of the image.", True)


SETTINGS = BonesJointsSettings
