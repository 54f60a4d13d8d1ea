"""Downloads the locked files of a source at the locked commit, and verifies each by its SHA-256.

The hub's client keeps partial files in HF_HOME, so a download that was killed goes on where it stopped. With
HF_HUB_OFFLINE=1 only files that are there already are used. MLRB_HUB_OWN=1: HF_HOME is the runner's own
folder, whose files become the output without a copy. By hand, with LOCKED the entry of sources.lock.yaml as
JSON:
    PYTHONPATH=runners/kit/python python pipelines/steps/download.py --param locked=LOCKED --output files=DIR
"""

import errno
import hashlib
import os
import re
import resource
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mlrb_kit.stage import read_stage

if TYPE_CHECKING:
    import requests

TRIES = 5
PAUSE_MAX = 60  # seconds
BLOCK = 1 << 20
SPARE = 64 << 20  # bytes that a file may grow to, whatever its locked size: the log is a file too


def main() -> None:
    stage = read_stage()
    locked, output = stage.param("locked"), stage.output("files")
    if locked is None:
        raise SystemExit("the source is not locked; `pnpm pipeline sources lock` resolves it on the hub")
    total = sum(file["size"] for file in locked["files"])
    print(f"{locked['repository']} at {locked['revision']}: {len(locked['files'])} files, {total} bytes")
    print(f"licence: {locked['licence'] or 'none named'}, gated: {locked['gated']}", flush=True)
    own = os.environ.get("MLRB_HUB_OWN") == "1"
    kept: list[Path] = []
    answers = Answers(locked)
    for number, file in enumerate(locked["files"], 1):
        bound_files(file["size"])
        found = fetched(locked, file["path"], answers)
        content = content_of(found, locked)
        verify(content, found, file, locked)
        put(content, output / file["path"], link=own)
        kept += [content, found]
        print(f"{number}/{len(locked['files'])} {file['path']}, {file['size']} bytes", flush=True)
    for path in kept if own else []:  # another source may have partial files of the same repository
        path.unlink(missing_ok=True)


class Answers:
    """Ends the program at a commit or ETag that is no hash. The client makes paths of both as they are."""

    def __init__(self, locked: dict[str, Any]) -> None:
        from huggingface_hub import configure_http_backend

        self.locked = locked
        self.blob = ""
        configure_http_backend(self.session)

    def session(self) -> "requests.Session":
        from huggingface_hub.utils._http import _default_backend_factory

        made = _default_backend_factory()
        made.hooks["response"].append(self.check)
        return made

    def check(self, answer: "requests.Response", **_: Any) -> None:
        commit = answer.headers.get("X-Repo-Commit")
        if commit is None:
            return  # the client uses no other answer's ETag
        where = f"{self.locked['repository']}: {urlsplit(answer.url).path!a}"
        if commit != self.locked["revision"]:
            raise SystemExit(
                f"{where}: the hub answered commit {plain(commit)}, not {self.locked['revision']}; "
                "does HF_ENDPOINT name a hub?"
            )
        followed = answer.is_redirect and urlsplit(answer.headers["Location"]).netloc == ""
        if answer.request.method != "HEAD" or not answer.ok or followed:
            return
        etag = answer.headers.get("X-Linked-ETag") or answer.headers.get("ETag") or "none"
        # git's hash of a small file, or the SHA-256 of a large one
        found = re.fullmatch(r'(?:W/)?"?([0-9a-f]{40}|[0-9a-f]{64})"?', etag)
        if found is None:
            raise SystemExit(
                f"{where}: the hub answered the ETag {plain(etag)}, not a file's hash; "
                "nothing was written. Does HF_ENDPOINT name a hub? A proxy may have changed the answer"
            )
        self.blob = found[1]

    def drop_partial(self) -> None:
        """The client would go on from it for ever. Its lock keeps other processes away meanwhile."""
        from huggingface_hub.utils import WeakFileLock

        folder = cache_of(self.locked)
        with WeakFileLock(folder.parent / ".locks" / folder.name / f"{self.blob}.lock"):
            (folder / "blobs" / f"{self.blob}.incomplete").unlink(missing_ok=True)


def bound_files(size: int) -> None:
    """An answer that never ends must not fill the disk."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    bound = max(size, SPARE)
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (bound if most == resource.RLIM_INFINITY else min(bound, most), most)
    )


def plain(text: str) -> str:
    return ascii(text[:100])[1:-1]


def fetched(locked: dict[str, Any], path: str, answers: Answers) -> Path:
    """The file in the folder of the hub's client. Ends the program with the cause and the way out."""
    import requests
    from huggingface_hub import errors, hf_hub_download

    where = f"{locked['repository']}/{path}"
    dropped = False
    for tries in range(1, TRIES + 1):
        try:
            return Path(
                hf_hub_download(
                    locked["repository"], path, repo_type=locked["type"], revision=locked["revision"]
                )
            )
        except errors.GatedRepoError as error:
            raise SystemExit(
                f"{where}: the hub refuses access; accept the terms on its page, and set HF_TOKEN"
            ) from error
        except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
            raise SystemExit(
                f"{where}: the hub no longer has this repository or commit {locked['revision']}; "
                "a closed repository needs HF_TOKEN; `pnpm pipeline sources verify` compares the lock"
            ) from error
        except errors.EntryNotFoundError as error:
            if not isinstance(error, errors.LocalEntryNotFoundError):
                raise SystemExit(
                    f"{where}: the locked commit has no such file; "
                    "`pnpm pipeline sources verify` compares the lock"
                ) from error
            if offline():
                raise SystemExit(
                    f"{where}: not in {os.environ.get('HF_HOME', 'HF_HOME')}, and HF_HUB_OFFLINE forbids "
                    "to download it; unset HF_HUB_OFFLINE, or copy the folder from a machine that has it"
                ) from error
            pause_or_end(where, error, tries)
        except (errors.HfHubHTTPError, requests.RequestException, OSError, ValueError) as error:
            if not has_wrong_length(error):
                pause_or_end(where, error, tries)
                continue
            answers.drop_partial()
            if dropped or tries == TRIES:
                raise SystemExit(
                    f"{where}: more or fewer bytes came than the hub announced, again from the first byte; "
                    "they were removed, nothing was used. Does a proxy answer with a page of its own? "
                    "Open the file's page on the hub from here, then run again"
                ) from error
            dropped = True
            print(
                f"{where}: more or fewer bytes came than the hub announced; from the first byte", flush=True
            )
    raise AssertionError("the last try ends the program")


def has_wrong_length(error: Exception) -> bool:
    """Whether the partial file is too long, or the whole answer has another length than announced."""
    answer = answer_of(error)
    if answer is not None:
        return answer.status_code == 416
    return getattr(error, "errno", None) == errno.EFBIG or str(error).startswith("Consistency check failed")


def answer_of(error: Exception) -> "requests.Response | None":
    answer = getattr(error, "response", None)
    return getattr(error.__cause__, "response", None) if answer is None else answer


def pause_or_end(where: str, error: Exception, tries: int) -> None:
    """Waits as long as the hub asks. Ends the program after the last try, and where a repeat cannot help."""
    if getattr(error, "errno", None) is not None:
        raise SystemExit(
            f"{where}: {error}; what came so far is kept, so a repeated run goes on. "
            f"Is there room in {os.environ.get('HF_HOME', 'HF_HOME')}, and may this user write there?"
        ) from error
    answer = answer_of(error)
    status = None if answer is None else answer.status_code
    if tries == TRIES or (status is not None and status < 500 and status != 429):
        cause = str(error.__cause__ or error).strip().splitlines()[0]
        raise SystemExit(
            f"{where}: {cause}; what came so far is kept, so a repeated run goes on. "
            "Is the hub reachable from here?"
        ) from error
    asked = "" if answer is None else answer.headers.get("Retry-After", "")
    seconds = min(float(asked) if asked.isdigit() else 2.0 ** (tries - 1), PAUSE_MAX)
    print(f"{where}: {status or 'the connection broke'}; again in {seconds:.0f} s", flush=True)
    time.sleep(seconds)


def content_of(found: Path, locked: dict[str, Any]) -> Path:
    """The bytes of a file. A link to elsewhere ends the program; its file is neither read nor removed."""
    folder = cache_of(locked)
    content = found.resolve()
    unlinked = folder.resolve() / found.relative_to(folder)  # on a disk without links
    if content == unlinked or (folder / "blobs").resolve() in content.parents:
        return content
    raise SystemExit(
        f"{found} is a link to {content}, outside the client's folder; nothing was read or removed. "
        "Remove the link, and run again"
    )


def verify(content: Path, found: Path, file: dict[str, Any], locked: dict[str, Any]) -> None:
    """A wrong file is removed from the client's folder; otherwise every repeat would find it again."""
    digest = hashlib.sha256()
    with content.open("rb") as opened:
        while block := opened.read(BLOCK):
            digest.update(block)
    size = content.stat().st_size
    if size == file["size"] and digest.hexdigest() == file["sha256"]:
        return
    content.unlink()
    found.unlink(missing_ok=True)
    raise SystemExit(
        f"{locked['repository']}/{file['path']}: {size} bytes with SHA-256 {digest.hexdigest()} came, "
        f"locked are {file['size']} bytes with {file['sha256']}; the file was removed, nothing was used. "
        "Run again; if it stays wrong, `pnpm pipeline sources verify` compares the lock with the hub"
    )


def put(content: Path, to: Path, *, link: bool) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if link:
        try:
            os.link(content, to)
            return
        except OSError:
            pass  # another disk
    shutil.copyfile(content, to)


def cache_of(locked: dict[str, Any]) -> Path:
    """The folder of the repository in the client's folder."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    return Path(constants.HF_HUB_CACHE) / repo_folder_name(
        repo_id=locked["repository"], repo_type=locked["type"]
    )


def offline() -> bool:
    from huggingface_hub import constants

    return constants.HF_HUB_OFFLINE


if __name__ == "__main__":
    main()
