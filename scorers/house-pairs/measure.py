"""Measures accuracy on minimal pairs with lm-eval, and refuses scores that say nothing (see README.md)."""

import argparse
from pathlib import Path
from typing import Any

from mlrb_kit.causal import check_causal
from mlrb_kit.rejected import Rejected
from mlrb_kit.results import read_jsonl, write_json, write_jsonl
from mlrb_kit.submission import load_submission
from pairs_score import scored, storable
from run_lm_eval import run_lm_eval


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--submission", type=Path, required=True)
    parser.add_argument(
        "--private", type=Path, required=True, help="folder with pairs.jsonl, rows shaped like BLiMP's"
    )
    parser.add_argument("--score", type=Path, required=True, help="JSON to write")
    parser.add_argument("--samples", type=Path, required=True, help="JSON Lines to write, one pair each")
    args = parser.parse_args()

    pairs = read_jsonl(args.private / "pairs.jsonl")
    if not pairs:
        raise SystemExit("pairs.jsonl is empty: the data stage is at fault, not the submission")
    samples: list[dict[str, Any]] = []
    try:
        submission = load_submission(args.submission)
        rows = [submission.encode(pair[side]) for pair in pairs for side in ("sentence_good", "sentence_bad")]
        longest = max(len(row) for row in rows)
        if submission.context is not None and longest > submission.context:
            raise Rejected(f"a sentence has {longest} tokens; the model reads {submission.context}")
        check_causal(submission, rows)
        samples = run_lm_eval(submission, pairs)
        write_json(args.score, scored(samples))
    except Rejected as rejected:
        write_json(args.score, {"kind": "rejected", "reason": str(rejected)})
    write_jsonl(args.samples, [storable(sample) for sample in samples])


if __name__ == "__main__":
    main()
