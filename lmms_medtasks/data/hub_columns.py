"""Columns as a hub's library has them: numbers that stand for names (``ClassLabel``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datasets import Dataset


def with_label_names(dataset: Dataset) -> Dataset:
    """``dataset`` with names in place of the numbers of its ``ClassLabel`` columns, and of lists of them.

    A number that stands for none (-1) becomes None.
    """
    import datasets

    for name, feature in dict(dataset.features).items():
        inner = feature[0] if isinstance(feature, list) else getattr(feature, "feature", None)
        label = next((each for each in (feature, inner) if isinstance(each, datasets.ClassLabel)), None)
        if label is None:
            continue
        names = [_named(value, label.names) for value in dataset[name][:]]
        dataset = dataset.remove_columns([name]).add_column(name, names)
    return dataset


def _named(value: Any, names: list[str]) -> Any:
    if isinstance(value, list):
        return [_named(each, names) for each in value]
    return names[value] if isinstance(value, int) and 0 <= value < len(names) else None
