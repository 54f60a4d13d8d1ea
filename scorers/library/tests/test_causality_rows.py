"""Rows that lm-eval makes are tested as lm-eval makes them: a leak in such rows only is found."""

import copy
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from causal_models import config_of, submission_of
from leaking_models import SCORED, TEXTS, TOKENIZER, tested

from mlrb_kit.rejected import Rejected
from mlrb_kit.results import write_jsonl
from scorer_library.causality.encode_texts import Encoder
from scorer_library.causality.scored_texts import ScoredText, scored_texts
from scorer_library.lm_eval import blimp
from scorer_library.lm_eval.data import local_hub, read_hub_data
from scorer_library.lm_eval.model import GuardedLM
from scorer_library.lm_eval.run import run_lm_eval

PARADIGMS = ["causative", "passive_1"]

# contexts and answers of many lengths
QUESTIONS = [
    ScoredText(
        f"q/{at}", f"{text[: 30 + at % 90]}\nAnswer:", f" {text[100 : 130 + at % 7]}", "questions", "q"
    )
    for at, text in enumerate(TEXTS)
]


class Recording(GuardedLM):
    """Keeps the rows that the model is given."""

    def __init__(self, submission: Any) -> None:
        super().__init__(submission)
        self.given: list[list[int]] = []

    def _model_call(self, inps: Any, *arguments: Any, **more: Any) -> Any:
        self.given += inps.tolist()
        return super()._model_call(inps, *arguments, **more)


class Rows(unittest.TestCase):
    def test_rows_are_those_that_lm_eval_gives_the_model(self) -> None:
        from transformers import AutoModelForCausalLM

        sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 48, "vocab_size": len(TOKENIZER)}
        model = AutoModelForCausalLM.from_config(config_of("gpt2", sizes)).eval()
        submission = submission_of(model, with_bos())
        pairs = [(text.context, text.scored) for text in QUESTIONS]
        pairs += [("", text.scored[:50]) for text in SCORED[:40]] + [
            ("Ends in spaces:  ", "answer"),
            pairs[0],
        ]
        texts = [ScoredText(str(at), *pair, "questions", "q") for at, pair in enumerate(pairs)]
        recording = Recording(submission)
        recording.loglikelihood([SimpleNamespace(args=pair) for pair in pairs], disable_tqdm=True)
        rows = [one for found in Encoder(submission).encode(texts) for one in found]
        ours = {(*one.ids[:-1], *[0] * (one.width - len(one.ids) + 1)) for one in rows}
        self.assertEqual(ours, {tuple(row) for row in recording.given})
        self.assertGreater(recording.truncated, 0)
        self.assertTrue(any(row[-1] == 0 for row in recording.given), "no row is padded")


class Leaks(unittest.TestCase):
    def test_a_leak_only_after_a_bos_that_the_tokenizer_adds_is_found(self) -> None:
        bos = TOKENIZER.bos_token_id
        found = tested(lambda ids, _: 5.0 * (ids[0] == bos), texts=QUESTIONS, tokenizer=with_bos())
        self.assertTrue(found.looks_ahead())

    def test_a_leak_only_where_context_and_answer_are_encoded_apart_is_found(self) -> None:
        apart = [
            ScoredText(one.source, one.context[:-8], one.context[-8:], "questions", "q") for one in QUESTIONS
        ]

        def leak(ids: list[int], _: int) -> float:
            return 5.0 * (TOKENIZER.encode(TOKENIZER.decode(ids), add_special_tokens=False) != ids)

        self.assertTrue(tested(leak, texts=apart).looks_ahead())

    def test_a_leak_only_in_padded_rows_is_found(self) -> None:
        self.assertTrue(tested(lambda ids, _: 5.0 * (ids[-1] == 0), texts=QUESTIONS).looks_ahead())

    def test_a_leak_only_in_contexts_that_model_max_length_cuts_is_found(self) -> None:
        short = copy.deepcopy(TOKENIZER)
        short.model_max_length = 40
        found = tested(lambda ids, _: 5.0 * (len(ids) == 40), texts=QUESTIONS, tokenizer=short)
        self.assertTrue(found.looks_ahead())

    def test_a_small_gain_in_one_kind_of_text_is_not_averaged_with_the_others(self) -> None:
        found = tested(
            lambda ids, _: 1.5e-4 * (ids[0] != TOKENIZER.bos_token_id), texts=[*SCORED, *QUESTIONS]
        )
        self.assertEqual(found.leaking(), [])
        self.assertTrue(found.looks_ahead())


class Kinds(unittest.TestCase):
    def test_a_kind_of_text_that_its_scorer_refuses_hides_no_leak_in_another(self) -> None:
        empty = ScoredText("empty", "Question:", "", "questions", "q")
        self.assertTrue(tested(lambda *_: 5.0, texts=[*SCORED, empty]).looks_ahead())
        with self.assertRaisesRegex(Rejected, "no tokens"):
            tested(lambda *_: 5.0, texts=[empty])


class Runs(unittest.TestCase):
    """What each row or each config repeats is work that plain lm-eval's digits do not need."""

    def setUp(self) -> None:
        from lm_eval.utils import env

        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.private = Path(temporary.name)
        for paradigm in PARADIGMS:
            rows = [{"sentence_good": f"It is {at}.", "sentence_bad": f"It are {at}."} for at in range(20)]
            path = self.private / "blimp" / paradigm / "train.jsonl"
            path.parent.mkdir(parents=True)
            write_jsonl(path, rows)
        self.env, self.compiled = env, env.from_string

    def work(self, act: Any) -> tuple[int, list[int]]:
        """Templates that `act` compiles, and configs in each list of configs that `datasets` parses."""
        from huggingface_hub import DatasetCard

        listed: list[int] = []
        load = DatasetCard.load

        def loading(path: Any, *arguments: Any, **more: Any) -> Any:
            listed.append(Path(path).read_text(encoding="utf-8").count("config_name"))
            return load(path, *arguments, **more)

        with (
            patch.object(self.env, "compile", wraps=self.env.compile) as compile_template,
            patch.object(DatasetCard, "load", loading),
        ):
            act()
        self.assertEqual(self.env.from_string, self.compiled)
        return compile_template.call_count, listed

    def test_a_score_compiles_each_template_once_and_reads_one_config_at_a_time(self) -> None:
        from transformers import AutoModelForCausalLM

        sizes = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 48, "vocab_size": len(TOKENIZER)}
        submission = submission_of(
            AutoModelForCausalLM.from_config(config_of("gpt2", sizes)).eval(), TOKENIZER
        )
        rows = read_hub_data(self.private, blimp.DATA)

        def score() -> None:
            with local_hub(blimp.DATA, rows):
                run = run_lm_eval(submission, blimp.DATA, rows, shipped="blimp", task_of=blimp.task_of)
            self.assertEqual([len(run.answers[paradigm]) for paradigm in PARADIGMS], [20, 20])

        templates, listed = self.work(score)
        self.assertLess(templates, 10)
        self.assertEqual(listed, [1, 1])

    def test_so_does_the_causality_check(self) -> None:
        templates, listed = self.work(lambda: scored_texts(self.private, ["blimp"]))
        self.assertLess(templates, 10)
        self.assertEqual(listed, [1, 1])


def with_bos() -> Any:
    """The same tokenizer, which adds BOS to every text by itself."""
    from tokenizers.processors import TemplateProcessing

    changed = copy.deepcopy(TOKENIZER)
    bos = changed.bos_token
    changed.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{bos} $A", pair=f"{bos} $A $B", special_tokens=[(bos, changed.bos_token_id)]
    )
    return changed


if __name__ == "__main__":
    unittest.main()
