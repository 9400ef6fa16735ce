"""Files by their path or their URL: opened, measured and listed; what is not on this machine through fsspec."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from sosie.errors import DataError, UsageError

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?:://|::)")
_MAGIC = re.compile(r"[*?\[]")
# What servers say of a file that tells it from a later one, the best first; a list may say less than the file itself.
_VERSIONS = ("ETag", "etag", "blob_id", "md5Hash", "md5", "generation")
_TIMES = ("LastModified", "last_modified", "mtime", "modified", "updated", "created")
_WEB = ("http", "https")


@dataclass(frozen=True)
class RemoteFile:
    """A file on a server: its URL, its path below what was given, its size, and a number that other content changes."""

    url: str
    name: str
    size: int
    stamp: int


def is_url(path: str) -> bool:
    """Whether a path is a URL, as in s3://bucket/docs.jsonl.

    >>> is_url("s3://bucket/docs.jsonl"), is_url("docs.jsonl"), is_url("C:/docs.jsonl")
    (True, False, False)
    """
    return _URL.match(path) is not None


def local_path(path: str) -> str:
    """Return the path of a URL that names a file on this machine; others as they are.

    >>> local_path("file:///tmp/docs.jsonl"), local_path("s3://bucket/a")
    ('/tmp/docs.jsonl', 's3://bucket/a')
    """
    return path.removeprefix("file://") if path.startswith("file:///") else path


def open_file(path: str, buffering: int = 0) -> BinaryIO:
    """Open a file to read its bytes."""
    if not is_url(path):
        return open(path, "rb", buffering=buffering)
    system, inner = _system(path)
    try:
        return system.open(inner, "rb")  # type: ignore[no-any-return]
    except OSError:
        raise
    except Exception as error:
        # Each kind of server has exceptions of its own.
        raise OSError(f"{type(error).__name__}: {error}") from error


def size_and_stamp(path: str) -> tuple[int, int]:
    """Return the size of a file, and a number that is another one when its content has changed."""
    if not is_url(path):
        status = os.stat(path)
        return status.st_size, status.st_mtime_ns
    system, inner = _system(path)
    system.invalidate_cache()
    return _measured(_info(system, inner, path), path)


def list_url(url: str) -> tuple[str, list[RemoteFile]]:
    """Return the files that a URL leads to, sorted, and the URL that their names are below.

    A URL is a file, a folder, or a pattern.
    """
    system, inner = _system(url)
    is_web = urlsplit(url).scheme in _WEB
    if _MAGIC.search(inner) and not is_web:
        found = _asked(url, lambda: system.glob(inner, detail=True))
        root = inner[: _MAGIC.search(inner).start()].rpartition("/")[0]  # type: ignore[union-attr]
        return url, _files(system, root, found, url)
    info = _info(system, inner, url)
    if info.get("type") != "directory":
        size, stamp = _measured(info, url)
        name = urlsplit(url).path.rpartition("/")[2] if is_web else inner.rstrip("/").rpartition("/")[2]
        return url, [RemoteFile(url, name, size, stamp)]
    return url, _files(system, inner, _asked(url, lambda: system.find(inner, detail=True)), url)


def _files(system: Any, root: str, found: dict[str, Any], url: str) -> list[RemoteFile]:
    root = str(system._strip_protocol(root)).rstrip("/")
    files = []
    for path, info in sorted(found.items()):
        if info.get("type") == "directory":
            continue
        place = str(system.unstrip_protocol(path))
        name = path.removeprefix(root).lstrip("/")
        if not any(info.get(key) is not None for key in _VERSIONS):
            info = _info(system, path, place)
        files.append(RemoteFile(place, name, *_measured(info, place)))
    if not files:
        raise UsageError(f"{url}: leads to no file. Check the URL or the pattern.")
    return files


def _system(url: str) -> tuple[Any, str]:
    scheme = re.split("://|::", url, maxsplit=1)[0]
    try:
        import fsspec
    except ImportError as error:
        raise UsageError(
            f"{url}: files on servers need the package fsspec ({error}). Run: pip install 'sosie[remote]'"
            f"{_MORE.get(scheme, '')}"
        ) from error
    try:
        system, inner = fsspec.core.url_to_fs(url)
    except ImportError as error:
        raise UsageError(f"{url}: {str(error).rstrip('.')}.{_RUN.get(scheme, '')}") from error
    except ValueError as error:
        raise UsageError(f"{url}: cannot be read ({error}). Check the URL.") from error
    return system, str(inner)


_RUN = {
    "s3": " Run: pip install 'sosie[s3]'",
    "s3a": " Run: pip install 'sosie[s3]'",
    "hf": " Run: pip install 'sosie[hf]'",
    "http": " Run: pip install 'sosie[remote]'",
    "https": " Run: pip install 'sosie[remote]'",
    "gs": " Run: pip install gcsfs",
    "gcs": " Run: pip install gcsfs",
    "abfs": " Run: pip install adlfs",
    "az": " Run: pip install adlfs",
}
_MORE = {"s3": ", for s3:// 'sosie[s3]'", "s3a": ", for s3:// 'sosie[s3]'", "hf": ", for hf:// 'sosie[hf]'"}


def _info(system: Any, inner: str, url: str) -> dict[str, Any]:
    return dict(_asked(url, lambda: system.info(inner)))


def _asked(url: str, ask: Any) -> Any:
    try:
        return ask()
    except FileNotFoundError as error:
        raise UsageError(f"{url}: no such file. Check the URL.") from error
    except Exception as error:
        # Each kind of server has exceptions of its own: credentials, timeouts, names that are not known.
        detail = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"{url}: cannot be listed ({detail}). Check the URL and your credentials.") from error


def _measured(info: dict[str, Any], url: str) -> tuple[int, int]:
    if info.get("size") is None:
        raise DataError(f"{url}: the server does not say how large it is. Download it and name the file.")
    said = next((str(info[name]).strip('"') for name in (*_VERSIONS, *_TIMES) if info.get(name) is not None), "")
    digest = hashlib.sha256(said.encode()).digest()
    return int(info["size"]), int.from_bytes(digest[:7], "big")
