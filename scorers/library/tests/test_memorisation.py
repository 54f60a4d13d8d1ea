import json
import tempfile
import unittest
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from mlrb_kit.random_gpt2 import write_random_gpt2
from mlrb_kit.reference_titles import write_titles
from mlrb_kit.submission import load_submission
from scorer_library.bits_per_byte import document_bits, encode_windows
from scorer_library.memorisation.compared_documents import compared_documents, evenly
from scorer_library.memorisation.model_bits import OTHERS, reference_bits, text_bits, window_bits
from scorer_library.ngram import train_bpe
from scorer_library.windows import windows


class Memorisation(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.at = Path(temporary.name)
        self.public, self.private = self.at / "public", self.at / "private"
        self.public.mkdir()
        self.private.mkdir()

    def rows(self, path: Path, rows: list[dict[str, Any]]) -> None:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")

    def held_out(self, *texts: tuple[str, str]) -> None:
        rows = [{"id": str(at), "group": group, "text": text} for at, (group, text) in enumerate(texts)]
        self.rows(self.private / "heldout.jsonl", rows)

    def test_as_many_public_documents_are_drawn_evenly(self) -> None:
        """Of 19 public rows for each held-out one, the middle: as far as can be from held-out neighbours."""
        self.assertEqual(evenly(57, 3), [9, 28, 47])
        self.assertEqual(evenly(5, 5), [0, 1, 2, 3, 4])
        self.assertEqual(evenly(0, 0), [])
        self.held_out(("news", "a"), ("lore", "b"))
        self.rows(self.public / "train.jsonl", [{"content": f"{at}"} for at in range(8)])
        found = compared_documents(self.public, self.private)
        sides = [(each.side, each.id, each.text) for each in found.documents]
        self.assertEqual(
            sides,
            [
                ("private", "heldout.jsonl/0", "a"),
                ("private", "heldout.jsonl/1", "b"),
                ("public", "train.jsonl/2", "2"),
                ("public", "train.jsonl/6", "6"),
            ],
        )
        self.assertEqual(found.others, ["0", "1", "3", "4", "5", "7"])
        self.assertEqual(len(found.texts), 8)

    def test_a_public_document_is_not_longer_than_its_private_one(self) -> None:
        self.held_out(("g", "x" * 5), ("g", "x" * 9000), ("g", "x" * 3))
        self.rows(self.public / "train.jsonl", [{"text": "é" * 5000}, {"text": "y" * 5000}, {"text": "z"}])
        found = compared_documents(self.public, self.private).documents
        public = [each.text for each in found if each.side == "public"]
        self.assertEqual(public, ["é" * 2, "y" * 4096, "z"])

    def test_a_group_with_a_public_file_of_its_own_is_matched_there(self) -> None:
        self.held_out(("text", "a"), ("instructions", "b"), ("instructions", "c"))
        self.rows(self.public / "train.jsonl", [{"text": "t"}])
        made = [{"instruction": "do", "input": "", "output": str(at)} for at in range(4)]
        self.rows(self.public / "instructions.jsonl", made)
        found = compared_documents(self.public, self.private).documents
        self.assertEqual(
            [(each.side, each.source) for each in found],
            [
                *[(side, "instructions.jsonl") for side in ("private", "private", "public", "public")],
                ("private", "train.jsonl"),
                ("public", "train.jsonl"),
            ],
        )

    def test_public_data_without_matching_texts_ends_the_stage_with_the_file(self) -> None:
        self.held_out(("g", "x"))
        with self.assertRaisesRegex(SystemExit, r"no train\.jsonl"):
            compared_documents(self.public, self.private)

    def test_the_reference_is_the_given_base_or_a_bigram_that_saw_no_compared_text(self) -> None:
        texts = [f"the cat number {at} sat on mat {at * 7} with a hat" for at in range(60)]
        self.held_out(*[("g", text) for text in texts[:3]])
        self.rows(self.public / "train.jsonl", [{"text": text} for text in texts[3:]])
        models = self.at / "models"
        write_random_gpt2(models / "base", train_bpe(texts), seed=0, width=16, layers=1)
        for kind, reference in (("given-model", "base"), ("untrained", OTHERS)):
            write_titles(models, {"base": {"title": "a", "kind": kind, "parameters": 1}})
            found, name = reference_bits(self.public, self.private, models)
            self.assertEqual(name, reference)
            names = [model["name"] for model in found]
            self.assertEqual(names, ["base", "unigram", "bigram", *([OTHERS] if name == OTHERS else [])])
            self.assertTrue(all(len(model["documents"]) == 6 for model in found), found)

    def test_bits_are_those_of_the_scorer_bits_per_byte(self) -> None:
        texts = [f"the cat number {at} sat on mat {at * 7} with a hat é " * 9 for at in range(20)]
        write_random_gpt2(self.at / "model", train_bpe(texts), seed=0, width=16, layers=1)
        submission = load_submission(self.at / "model")
        self.assertGreater(len(submission.encode(windows(texts[1])[0])), 7)
        for context in (submission.context, 7):  # the windows fit into one, and not into the other
            model = replace(submission, context=context)
            for text in texts[:3]:
                document = {"id": "0", "group": "g"}
                scored = document_bits(model, document, encode_windows(model, text))
                bits, size = text_bits(text, partial(window_bits, model))
                self.assertAlmostEqual(bits, scored["value"], places=4)
                self.assertEqual(size, scored["weight"])


if __name__ == "__main__":
    unittest.main()
