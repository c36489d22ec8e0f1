"""A release as a dataset repository of the Hugging Face hub; files land in the hub library's own cache."""

from __future__ import annotations

import functools
import socket
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lmms_medtasks.data.releases import MissingFileError, checked_name
from lmms_medtasks.errors import UserError

Download = Callable[..., str]


class HubRelease:
    """The files of one revision of a hub dataset.

    ``revision`` may be a branch or a tag: the first file settles the commit, and all others are taken from the same.
    Setting ``commit`` beforehand settles it.
    """

    def __init__(self, repository: str, revision: str, download: Download | None = None) -> None:
        """``download`` stands in for ``huggingface_hub.hf_hub_download`` in tests."""
        self.repository, self.revision, self.commit = repository, revision, ""
        self._download = download
        self._paths: dict[str, Path] = {}

    def describe(self) -> dict[str, Any]:
        """Repository, the revision asked for, and the commit that it stood for (known after the first file)."""
        found = {"kind": "hub", "repository": self.repository, "revision": self.revision}
        return {**found, "commit": self.commit} if self.commit else found

    def has(self, name: str) -> bool:
        """Always true: whether a file is there is seen by asking for it."""
        return bool(checked_name(name))

    def names(self) -> list[str]:
        """The names of all files of the revision; ``UserError`` where the hub can't be asked."""
        from huggingface_hub import HfApi

        where = f"The files of the hub dataset {self.repository!r} (revision {self.revision!r})"
        if unreachable():
            raise UserError(
                f"{where} cannot be listed: no network, or HF_HUB_OFFLINE is set. Prepare where there is a network, or "
                "give a folder that has the files with --source DIR."
            )
        revision = self.commit or self.revision
        try:
            info = HfApi().dataset_info(self.repository, revision=revision)
        except OSError as error:  # the hub's HTTP errors are OSErrors
            raise UserError(f"{where} cannot be listed: {error}") from error
        self.commit = self.commit or (info.sha or "")
        return sorted(each.rfilename for each in info.siblings or [])

    def file(self, name: str) -> Path:
        """The file, downloaded unless the hub's cache has it; errors as :class:`Release` says, with the way out."""
        if name not in self._paths:
            path = self._fetch(checked_name(name))
            parts = path.parts
            # .../snapshots/<commit>/<name>
            if not self.commit and "snapshots" in parts:
                self.commit = parts[len(parts) - 1 - parts[::-1].index("snapshots") + 1]
            self._paths[name] = path
        return self._paths[name]

    def _fetch(self, name: str) -> Path:
        from huggingface_hub import errors, hf_hub_download

        download = self._download or functools.partial(hf_hub_download, local_files_only=unreachable())
        revision = self.commit or self.revision
        where = f"{name!r} of the hub dataset {self.repository!r} (revision {revision!r})"
        try:
            return Path(download(self.repository, name, repo_type="dataset", revision=revision))
        except errors.GatedRepoError as error:
            raise UserError(
                f"{where} is gated. Ask for access at https://huggingface.co/datasets/{self.repository}, "
                "then run: hf auth login"
            ) from error
        except errors.RepositoryNotFoundError as error:
            raise UserError(
                f"{where}: the hub knows no such dataset, or you may not see it. If it is private, run: hf auth login"
            ) from error
        except errors.RevisionNotFoundError as error:
            raise UserError(f"{where}: there is no such revision. Choose one with --revision.") from error
        except errors.LocalEntryNotFoundError as error:
            raise UserError(
                f"{where} cannot be downloaded and is not in the hub's cache: no network, or HF_HUB_OFFLINE is set. "
                "Prepare where there is a network, or give a folder that has the files with --source DIR."
            ) from error
        except errors.EntryNotFoundError as error:
            raise MissingFileError(
                f"{where} is not there: the release has changed. Choose an older revision with --revision."
            ) from error
        except OSError as error:  # the hub's HTTP errors and those of the disk are all OSErrors
            raise UserError(f"{where} cannot be downloaded: {error}. Run the same command again to go on.") from error


def unreachable() -> bool:
    """Whether the hub is off limits, or its host does not take connections and no proxy stands in for it.

    Then its cache is all there is; the hub's library itself would repeat its attempts for half a minute and more.
    """
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return True
    if set(urllib.request.getproxies()) - {"no"}:
        return False
    parts = urlsplit(constants.ENDPOINT)
    port = parts.port or (80 if parts.scheme == "http" else 443)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=constants.HF_HUB_ETAG_TIMEOUT).close()
    except OSError:
        return True
    return False
