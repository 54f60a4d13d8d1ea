"""Times scorers by lm-eval against plain lm-eval, on the same random model and the same items.

The items have the number of configs, the share of items and about the lengths of the official data. The
processor time of this process is printed, alternating, in one JSON line. The causality check, a stage of its
own, has a number of its own. `load`, `forward`, `tokens` and `distinct` say what scores of one model could
share: seconds that load the model, seconds inside it, tokens that it reads, and those left if each beginning
that rows of one run share were read once. By hand:
    PYTHONPATH=runners/kit/python:scorers/library python scripts/bench/lm_eval_parts.py
        --param share=0.02 --param rounds=3 --input submission=DIR --input public=DIR
"""

import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mlrb_kit.stage import read_stage
from mlrb_kit.submission import load_submission
from scorer_library.causality.judge_causality import measure_look_ahead
from scorer_library.causality.scored_texts import scored_texts
from scorer_library.lm_eval.blimp import DATA as BLIMP
from scorer_library.lm_eval.blimp import PHENOMENON_OF, task_of
from scorer_library.lm_eval.data import HubData, local_hub, read_hub_data
from scorer_library.lm_eval.items import Item
from scorer_library.lm_eval.letters import BY_LETTER
from scorer_library.lm_eval.mean import mean_over_groups
from scorer_library.lm_eval.measure import LmEval, lm_eval_measure
from scorer_library.ngram import read_public

# items of the official data, and the usual words of a sentence of BLiMP, a question and a choice of MMLU
PAIRS, QUESTIONS = 67_000, 14_042
SENTENCE, QUESTION, CHOICE = 8, 45, 7


def main() -> None:
    stage = read_stage()
    share, rounds = float(stage.param("share")), int(stage.param("rounds"))
    words = " ".join(read_public(stage.input("public"))).split()
    with tempfile.TemporaryDirectory() as folder:
        private = Path(folder)
        counts = {
            "blimp": write_pairs(private, share, words),
            "mmlu": write_questions(private, share, words),
        }
        by_pair = LmEval(BLIMP, "blimp", task_of, pair_item, mean_over_groups)
        submission = stage.input("submission")
        found = {
            name: {
                "items": counts[name],
                **compared(how, submission, private, rounds),
                **shareable(how, submission, private),
            }
            for name, how in {"blimp": by_pair, "mmlu": BY_LETTER}.items()
        }
        # the letters of mmlu cannot leak, so only blimp's texts are cut
        checks = [seconds(lambda: check_causality(submission, private)) for _ in range(rounds + 1)]
        found["blimp"]["causality"] = statistics.median(checks[1:])
    print("lm-eval:", json.dumps(found))


def pair_item(paradigm: str, at: int, _row: Any, answer: Any) -> Item:
    credits = [outcome["acc"] for outcome in answer.outcomes]
    return Item(f"{paradigm}/{at}", paradigm, answer.likelihoods, credits, cluster=paradigm)


def compared(how: LmEval, submission: Path, private: Path, rounds: int) -> dict[str, float]:
    """Median seconds of the scorer and of plain lm-eval. The first round of each is not counted."""
    scorer, plain = [], []
    for _ in range(rounds + 1):
        scorer.append(seconds(lambda: lm_eval_measure(how, submission, private)))
        plain.append(seconds(lambda: plain_lm_eval(how, submission, private)))
    return {"scorer": statistics.median(scorer[1:]), "plain": statistics.median(plain[1:])}


def plain_lm_eval(how: LmEval, submission: Path, private: Path) -> None:
    """What `lm_eval --tasks … --batch_size 32` computes, after its imports and its index of all tasks."""
    rows = read_hub_data(private, how.data)
    with local_hub(how.data, rows):
        import lm_eval
        from lm_eval.models.huggingface import HFLM
        from lm_eval.tasks import TaskManager

        tasks = Path(lm_eval.__file__).parent / "tasks" / how.shipped
        lm_eval.simple_evaluate(
            model=HFLM(pretrained=str(submission), batch_size=32, device="cpu"),
            tasks=[how.task_of(config) for config in rows],
            task_manager=TaskManager(include_path=str(tasks), include_defaults=False),
            bootstrap_iters=0,
            log_samples=False,
        )


def check_causality(submission: Path, private: Path) -> None:
    """What the stage `causality` does for blimp, after its imports."""
    texts = scored_texts(private, ["blimp"])
    measure_look_ahead(load_submission(submission), texts, seed=b"bench")


def shareable(how: LmEval, submission: Path, private: Path) -> dict[str, float]:
    """Of one more run, which is observed and so not timed as a whole."""
    from lm_eval.models.huggingface import HFLM

    spent, read, rows = [0.0], [0], set()
    call = HFLM._model_call

    def observed(self: Any, ids: Any, *others: Any, **named: Any) -> Any:
        begin = time.process_time()
        logits = call(self, ids, *others, **named)
        spent[0] += time.process_time() - begin
        read[0] += ids.numel()
        rows.update(map(tuple, ids.tolist()))
        return logits

    with patch.object(HFLM, "_model_call", observed):
        lm_eval_measure(how, submission, private)
    load = seconds(lambda: load_submission(submission))
    return {"load": load, "forward": spent[0], "tokens": read[0], "distinct": distinct_tokens(rows)}


def distinct_tokens(rows: Iterable[tuple[int, ...]]) -> int:
    """Nodes of the tree of all rows, without the padding (0) at their ends."""
    ordered = sorted(row[: len(row) - trailing_zeros(row)] for row in rows)
    return sum(len(row) - shared(row, before) for before, row in pairwise([(), *ordered]))


def trailing_zeros(row: tuple[int, ...]) -> int:
    return next((at for at, token in enumerate(reversed(row)) if token), len(row))


def shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """The number of tokens with which both begin."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def seconds(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def write_pairs(private: Path, share: float, words: list[str]) -> int:
    """Pairs of sentences that differ in one word."""
    draw = random.Random(1)

    def row() -> dict[str, Any]:
        good = some(words, SENTENCE, draw)
        bad = [*good]
        bad[draw.randrange(1, len(bad))] = draw.choice(words)
        return {"sentence_good": " ".join(good), "sentence_bad": " ".join(bad)}

    return write(private, BLIMP, sorted(PHENOMENON_OF), (PAIRS * share, row))


def write_questions(private: Path, share: float, words: list[str]) -> int:
    import lm_eval

    names = Path(lm_eval.__file__).parent.glob("tasks/mmlu/default/mmlu_*.yaml")
    subjects = sorted(path.stem.removeprefix("mmlu_") for path in names)
    draw = random.Random(2)

    def row() -> dict[str, Any]:
        choices = [" ".join(some(words, CHOICE, draw)) for _ in range(4)]
        question = " ".join(some(words, QUESTION, draw))
        return {"question": question, "choices": choices, "answer": draw.randrange(4), "subject": "any"}

    return write(private, BY_LETTER.data, subjects, (QUESTIONS * share, row))


def some(words: list[str], usual: int, draw: random.Random) -> list[str]:
    """Words in their order, half to one and a half times as many as usual."""
    count = draw.randint(usual // 2, usual * 3 // 2)
    start = draw.randrange(len(words) - count)
    return words[start : start + count]


def write(
    private: Path, data: HubData, configs: list[str], items: tuple[float, Callable[[], dict[str, Any]]]
) -> int:
    total, row = items
    each = max(1, round(total / len(configs)))
    for config in configs:
        path = private / data.folder / config / f"{data.split}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text("".join(json.dumps(row()) + "\n" for _ in range(each)), encoding="utf-8")
    return each * len(configs)


if __name__ == "__main__":
    main()
