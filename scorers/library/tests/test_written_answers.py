"""Answers are those of the model's own forward pass, and a cache that computes the same is used."""

import dataclasses
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from leaking_models import TOKENIZER
from transformers import CONFIG_MAPPING, AutoModelForCausalLM, AutoModelForSeq2SeqLM

from mlrb_kit.submission import Submission
from scorer_library.generation.generate import decoder_start, predictions
from scorer_library.generation.items import GenerationSettings, read_math

TOKENS = 6
DATA = read_math(Path(__file__).parents[2] / "bleu/fixtures/private")
ITEMS = DATA.items[:2]
BERT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
T5 = {"d_model": 32, "d_ff": 64, "d_kv": 8, "num_layers": 2, "num_heads": 4}
XLM = {"emb_dim": 32, "n_layers": 2, "n_heads": 4, "causal": True, "mask_token_id": 3}
MEGA = {"hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 64, "ema_projection_size": 4}
KINDS: dict[str, dict[str, Any]] = {
    "roberta": {**BERT, "is_decoder": True, "pad_token_id": 1, "initializer_range": 0.5},
    "xlm": {**XLM, "pad_index": 2, "embed_init_std": 0.5, "init_std": 0.5},
    "mega": {**MEGA, "shared_representation_size": 8, "is_decoder": True, "bidirectional": False},
    "gpt2": {"n_embd": 32, "n_layer": 2, "n_head": 4, "initializer_range": 0.5},
    "llama": {**BERT, "initializer_range": 0.5},
    "mamba": {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 4},
    "t5": {**T5, "decoder_start_token_id": 0},
}
READ_AGAIN = {"roberta", "xlm", "mega"}


def submission_of(kind: str) -> Submission:
    torch.manual_seed(0)
    config = CONFIG_MAPPING[kind](vocab_size=len(TOKENIZER), **KINDS[kind])
    both = kind == "t5"
    model = (AutoModelForSeq2SeqLM if both else AutoModelForCausalLM).from_config(config).eval()
    return Submission(model, TOKENIZER, TOKENIZER.bos_token_id, len(TOKENIZER), None, both)


def written(submission: Submission) -> list[str]:
    module = "scorer_library.generation.generate"
    data = dataclasses.replace(DATA, items=ITEMS, generation=GenerationSettings(TOKENS, None))
    with (
        mock.patch(f"{module}.load_submission", return_value=submission),
        mock.patch(f"{module}.end_tokens", return_value=frozenset()),
        mock.patch(f"{module}.prompt", side_effect=lambda _, item: item.informal_statement[:30]),
    ):
        return [answer.text for answer in predictions(Path(__file__).parent, data)]


@torch.inference_mode()
def forward_answer(submission: Submission, text: str) -> str:
    model = submission.model
    ids = TOKENIZER.encode(text, add_special_tokens=submission.encoder_decoder)
    row = [decoder_start(model)] if submission.encoder_decoder else [submission.start_id, *ids]
    start = len(row)
    for _ in range(TOKENS):
        batch = torch.tensor([row])
        if submission.encoder_decoder:
            logits = model(input_ids=torch.tensor([ids]), decoder_input_ids=batch).logits
        else:
            logits = model(input_ids=batch).logits
        row.append(int(logits[0, -1].argmax()))
    return TOKENIZER.decode(row[start:], skip_special_tokens=True, clean_up_tokenization_spaces=False)


class Written(unittest.TestCase):
    def test_every_model_writes_what_its_own_forward_pass_predicts(self) -> None:
        for kind in KINDS:
            with self.subTest(kind):
                submission = submission_of(kind)
                wanted = [forward_answer(submission, item.informal_statement[:30]) for item in ITEMS]
                self.assertEqual(written(submission), wanted)

    def test_only_a_model_whose_cache_computes_something_else_reads_its_tokens_again(self) -> None:
        for kind in KINDS:
            with self.subTest(kind):
                submission = submission_of(kind)
                part = submission.model.decoder if kind == "t5" else submission.model
                lengths: list[int] = []
                part.register_forward_pre_hook(
                    lambda _part, _args, given, seen=lengths: seen.append(given["input_ids"].shape[1]),
                    with_kwargs=True,
                )
                written(submission)
                again = any(length > 1 for length in lengths[1 - TOKENS :])
                self.assertEqual(again, kind in READ_AGAIN)


if __name__ == "__main__":
    unittest.main()
