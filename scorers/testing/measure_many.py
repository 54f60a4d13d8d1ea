"""Runs a scorer's measure.py on many submissions, each in a process forked from one that imported already.

For tests: a fresh process for each would spend nearly all of its time importing.
"""

import argparse
import json
import os
import runpy
import sys
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scorer", type=Path, required=True, help="the scorer's folder")
    parser.add_argument("--submissions", type=Path, required=True, help="folder of submissions")
    parser.add_argument("--out", type=Path, required=True, help="gets NAME.json and NAME.jsonl for each")
    parser.add_argument("--generate", type=Path, help="the script that writes the answers that it judges")
    parser.add_argument("flags", nargs="*", help="what measure.py is told besides")
    args = parser.parse_args()

    os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HOME=str(args.out / "home"))
    from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2LMHeadModel  # noqa: F401 (lazy: by name)

    if "lm_eval" in "".join(path.read_text(encoding="utf-8") for path in args.scorer.glob("*.py")):
        import lm_eval
        import lm_eval.models.huggingface  # noqa: F401
    statuses = {folder.name: status(args, folder) for folder in sorted(args.submissions.iterdir())}
    print(json.dumps(statuses, sort_keys=True))


def status(args: argparse.Namespace, submission: Path) -> int:
    """Of measure.py; or of what writes the answers before it, where that fails."""
    out = args.out / submission.name
    given = [*args.flags, "--input", f"submission={submission}"]
    if args.generate:
        answers = args.out / "answers" / submission.name
        failed = in_child(args.generate, [*given, "--output", f"answers={answers}"])
        if failed:
            return failed
        given += ["--input", f"answers={answers}"]
    files = ["--output", f"score={out}.json", "--output", f"samples={out}.jsonl"]
    return in_child(args.scorer / "measure.py", [*given, *files])


def in_child(script: Path, argv: list[str]) -> int:
    """The exit status of `script`, run in a forked process."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        os.dup2(2, 1)  # the parent's standard output is its answer
        sys.argv = [str(script), *argv]
        sys.path.insert(0, str(script.parent))
        runpy.run_path(str(script), run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except Exception as error:
        print(f"{argv}: {error!r}", file=sys.stderr)
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
