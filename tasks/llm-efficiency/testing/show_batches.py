"""Prints the agents' training data as JSON: the first batch of two seeds, and its learnt tokens.

By hand, in a folder with data/ and models/base:
    PYTHONPATH=tasks:tasks/llm-efficiency/scripts python tasks/llm-efficiency/testing/show_batches.py
"""

import json
from pathlib import Path

from tokenizers import Tokenizer

from rows import read_rows
from train import ROWS, UNSCORED, batches, encode


def main() -> None:
    rows, dev = read_rows(Path("data/train.jsonl"))
    tokenizer = Tokenizer.from_file("models/base/tokenizer.json")
    drawn = {seed: list(batches(rows, seed, 4)) for seed in (1, 2)}

    def learnt(answers_only: bool) -> list[str]:
        _, _, labels = encode(tokenizer, drawn[1][0], answers_only)
        return [tokenizer.decode(row[row != UNSCORED].tolist()) for row in labels]

    print(
        json.dumps(
            {
                "rows": [row.question for row in rows],
                "dev": [row.question for row in dev],
                "budget": ROWS,
                "drawn": {
                    seed: [[row.question for row in batch] for batch in found]
                    for seed, found in drawn.items()
                },
                "text": [f"Question: {row.question}\nAnswer: {row.answer}" for row in drawn[1][0]],
                "answers": [f" {row.answer}" for row in drawn[1][0]],
                "learntOfAll": learnt(False),
                "learntOfAnswers": learnt(True),
            }
        )
    )


if __name__ == "__main__":
    main()
