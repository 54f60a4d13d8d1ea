"""Measures accuracy on minimal pairs with lm-eval, and rejects scores that ties decide (see README.md)."""

from pathlib import Path

from mlrb_kit.rejected import Rejected
from mlrb_kit.results import read_jsonl
from mlrb_kit.score_stage import Measured, judged, score_stage
from mlrb_kit.submission import load_submission
from pairs_score import scored
from run_lm_eval import run_lm_eval
from scorer_library.kept_text import check_kept


def measure(submission_folder: Path, private: Path) -> Measured:
    pairs = read_jsonl(private / "pairs.jsonl")
    if not pairs:
        raise SystemExit("pairs.jsonl is empty: the data stage is at fault, not the submission")
    submission = load_submission(submission_folder)
    texts = [pair[side] for pair in pairs for side in ("sentence_good", "sentence_bad")]
    longest = max(len(submission.encode(text)) for text in texts)
    check_kept(submission, [f" {text}" for text in texts])  # lm-eval writes a space before each
    if submission.context is not None and longest > submission.context:
        raise Rejected(f"a sentence has {longest} tokens; the model reads {submission.context}")
    samples = run_lm_eval(submission, pairs)
    return judged(samples, lambda: scored(samples))


if __name__ == "__main__":
    score_stage(measure)
