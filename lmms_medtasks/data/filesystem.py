"""``medtasks://suite/split`` as an fsspec filesystem, so that a task's YAML is plain data.

A url stands for the local parquet file of :func:`lmms_medtasks.data.locate_split`. ``datasets`` opens it where it is:
no copy in its download cache, also with ``HF_HUB_OFFLINE`` set. ``info`` gives the digest of the rows as ``ETag``,
which names ``datasets``' cached copy: other rows never come from an old one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import fsspec

from lmms_medtasks.errors import UserError


class MedtasksFileSystem(fsspec.AbstractFileSystem):  # type: ignore[misc]
    """Read-only. Paths are absolute paths of prepared or bundled parquet files."""

    protocol = "medtasks"
    local_file = True

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        """The local path of the file that a url stands for; a local path stays."""
        from lmms_medtasks.data import locate_split

        path = str(path)
        rest = path[len("medtasks://") :] if path.startswith("medtasks://") else path
        if Path(rest).is_absolute():
            return rest
        parts = rest.strip("/").split("/")
        if len(parts) > 2 and Path("/", rest).is_file():
            return f"/{rest}"  # datasets, when it streams, makes two slashes of three
        if len(parts) != 2:
            raise UserError(
                f"{path!r} names no data: expected medtasks://SUITE/SPLIT, as `lmms-medtasks data list` names them."
            )
        return str(locate_split(*parts).path)

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        from lmms_medtasks.data.locating import digest_of

        local = Path(self._strip_protocol(path))
        return {"name": str(local), "size": local.stat().st_size, "type": "file", "ETag": digest_of(local)}

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        info = self.info(path)
        return [info] if detail else [info["name"]]

    def glob(self, path: str, maxdepth: int | None = None, **kwargs: Any) -> Any:
        """The file itself; nothing in its path is a pattern."""
        info = self.info(path)
        return {info["name"]: info} if kwargs.get("detail") else [info["name"]]

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> BinaryIO:
        if mode != "rb":
            raise UserError(f"medtasks:// can only be read, not opened with mode {mode!r}.")
        return Path(self._strip_protocol(path)).open("rb")
