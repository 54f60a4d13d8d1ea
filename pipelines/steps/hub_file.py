"""Checks that a hub serves the smallest locked file of a source, byte for byte, without an earlier download.

By hand, with LOCKED the entry of sources.lock.yaml as JSON:
    PYTHONPATH=runners/kit/python python pipelines/steps/hub_file.py --param locked=LOCKED --output check=FILE
"""

import os
import tempfile

from download import Answers, bound_files, content_of, fetched, verify

from mlrb_kit.stage import read_stage


def main() -> None:
    stage = read_stage()
    locked = stage.param("locked")
    if locked is None:
        raise SystemExit("the source is not locked; `pnpm pipeline sources lock` resolves it on the hub")
    file = min(locked["files"], key=lambda one: (one["size"], one["path"]))
    offline = os.environ.get("HF_HUB_OFFLINE", "") not in ("", "0")
    with tempfile.TemporaryDirectory() as folder:
        if not offline:
            os.environ["HF_HUB_CACHE"] = folder  # before the hub's client is imported
        bound_files(file["size"])
        found = fetched(locked, file["path"], Answers(locked))
        content = content_of(found, locked)
        verify(content, found, file, locked)
    where = "in HF_HOME, since HF_HUB_OFFLINE is set" if offline else "from the hub"
    words = f"{locked['repository']}/{file['path']}, {file['size']} bytes {where}, SHA-256 as locked"
    stage.output("check").write_text(words + "\n", encoding="utf-8")
    print(words)


if __name__ == "__main__":
    main()
