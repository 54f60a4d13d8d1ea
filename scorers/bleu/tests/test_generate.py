"""Checks greedy generation, its answers on disk, prompt templates, the data's layout, the texts of reference
rows, and BLEU's split among items."""

import dataclasses
import json
import math
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import torch
from sacrebleu.metrics import BLEU
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel

sys.path.insert(0, str(Path(__file__).parents[1]))
from bleu_score import METRIC, bleu_score
from mlrb_kit.answers import FILE, Prediction, read_answers, write_answers
from mlrb_kit.rejected import Rejected
from mlrb_kit.submission import Submission
from scorer_library.generation.fill_slots import fill_slots, own_words, shape
from scorer_library.generation.generate import generate, predictions
from scorer_library.generation.items import GenerationSettings, Item, read_items, read_math
from scorer_library.generation.prompt import BYTES_MAX, DEFAULT, prompt, read_template
from scorer_library.generation.references import copy_nearest, generate_references

FIXTURES = Path(__file__).parents[1] / "fixtures"
DATA = read_math(FIXTURES / "private")
END = 0
SETTINGS = GenerationSettings(new_tokens_max=8, seconds_max=None)


class Fixed(GPT2LMHeadModel):
    """A model that writes `script` after a prompt of `given` tokens, and a tokenizer of numbers."""

    def __init__(self, script: list[int], given: int, size: int = 50) -> None:
        super().__init__(GPT2Config(vocab_size=size, n_positions=32, n_embd=4, n_layer=1, n_head=1))
        self.script, self.given, self.seen = script, given, 0

    def forward(self, input_ids: torch.Tensor, **given: Any) -> Any:
        output = super().forward(input_ids=input_ids, **given)
        self.seen += input_ids.shape[1]
        output.logits = torch.zeros(1, input_ids.shape[1], self.config.vocab_size)
        output.logits[0, -1, self.script[self.seen - self.given]] = 1.0
        return output

    def convert_ids_to_tokens(self, token: int) -> str:
        return "x" * 10_000 if token == 42 else f"{token} "

    def decode(self, ids: list[int], **_: Any) -> str:
        return "".join(self.convert_ids_to_tokens(token) for token in ids)


def said(script: list[int], **change: Any) -> Any:
    model = Fixed(script, given=3, size=change.pop("size", 50))
    submission = Submission(model, model, start_id=END, vocabulary=50, context=change.pop("context", None))
    settings = dataclasses.replace(SETTINGS, **change)
    ticks = iter(range(1000))
    return generate(
        submission,
        [5, 6],
        name="a",
        ends=frozenset({END}),
        settings=settings,
        clock=lambda: float(next(ticks)),
    )


class Generate(unittest.TestCase):
    def test_it_ends_at_the_end_token_which_is_no_part_of_the_text(self) -> None:
        found = said([7, 8, END, 9, 9, 9, 9, 9])
        self.assertEqual((found.text, found.tokens, found.ended), ("7 8 ", 2, "end-token"))

    def test_it_ends_at_its_tokens_its_context_its_seconds_and_its_text(self) -> None:
        script = [7] * 20
        self.assertEqual((said(script).tokens, said(script).ended), (8, "tokens"))
        self.assertEqual((said(script, context=7).tokens, said(script, context=7).ended), (4, "context"))
        self.assertEqual(
            (said(script, seconds_max=2.5).tokens, said(script, seconds_max=2.5).ended), (3, "seconds")
        )
        long = said([42] * 20)
        self.assertEqual((long.tokens, long.ended, len(long.text)), (2, "text", 16_384))

    def test_a_prompt_that_fills_the_context_gets_no_answer(self) -> None:
        found = said([7] * 9, context=3)
        self.assertEqual((found.text, found.ended), ("", "prompt-too-long"))

    def test_of_equal_tokens_the_lowest_is_taken_and_the_tie_counted(self) -> None:
        class Tied(Fixed):
            def forward(self, **given: Any) -> Any:
                output = super().forward(**given)
                output.logits[0, -1, 4] = 1.0
                return output

        tied = Tied([7] * 9, given=3)
        found = generate(
            Submission(tied, tied, END, 50, None), [5, 6], name="a", ends=frozenset(), settings=SETTINGS
        )
        self.assertEqual((found.text, found.tied), ("4 " * 8, 8))

    def test_a_token_without_an_embedding_is_refused(self) -> None:
        with self.assertRaisesRegex(Rejected, "predicts token 60"):
            said([60] * 9, size=100)

    def test_with_a_cache_it_writes_what_transformers_writes(self) -> None:
        torch.manual_seed(1)
        config = GPT2Config(
            vocab_size=40, n_positions=32, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
        )
        model = GPT2LMHeadModel(config).eval()
        submission = Submission(model, Fixed([], 0), 0, 40, 32)
        settings = GenerationSettings(20, None)
        found = generate(submission, [5, 6], name="a", ends=frozenset({0}), settings=settings)
        theirs = model.generate(torch.tensor([[0, 5, 6]]), do_sample=False, max_new_tokens=20, pad_token_id=0)
        ids = [token for token in theirs[0, 3:].tolist() if token != 0]
        self.assertEqual(found.text, "".join(f"{token} " for token in ids))


class Whole(unittest.TestCase):
    def test_a_model_that_memorised_the_answers_reaches_the_ceiling(self) -> None:
        torch.manual_seed(1)
        torch.set_num_threads(1)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_memoriser(folder)
            found = predictions(folder, dataclasses.replace(DATA, generation=GenerationSettings(128, None)))
        self.assertEqual([one.text for one in found], [item.formal_proof for item in DATA.items])
        self.assertEqual({one.ended for one in found}, {"end-token"})


def write_memoriser(folder: Path) -> None:
    """GPT-2 over characters, trained on the six items until it reproduces them."""
    texts = [(prompt(DEFAULT, item), item.formal_proof) for item in DATA.items]
    letters = sorted({letter for pair in texts for letter in "".join(pair)})
    vocabulary = {token: at for at, token in enumerate(["<end>", *letters])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<end>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    tokenizer.decoder = decoders.Fuse()
    tokenizer.add_special_tokens(["<end>"])
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<end>", "eos_token": "<end>"}
    (folder / "tokenizer_config.json").write_text(
        json.dumps({**names, "clean_up_tokenization_spaces": False})
    )
    sizes = {"n_positions": 320, "n_embd": 64, "n_layer": 1, "n_head": 4}
    model = GPT2LMHeadModel(
        GPT2Config(
            vocab_size=len(vocabulary),
            bos_token_id=0,
            eos_token_id=0,
            resid_pdrop=0,
            embd_pdrop=0,
            attn_pdrop=0,
            **sizes,
        )
    )
    rows = [[0, *(vocabulary[letter] for letter in first + second), 0] for first, second in texts]
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    labels = torch.tensor(
        [
            [-100] * (1 + len(first)) + row[1 + len(first) :] + [-100] * (width - len(row))
            for row, (first, _) in zip(rows, texts, strict=True)
        ]
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    model.train()
    for _ in range(400):
        loss = model(input_ids=ids, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss.item() < 0.02:
            break
    model.save_pretrained(folder)


class Answers(unittest.TestCase):
    made = (Prediction("a", "theorem «\ud83d» ∀\n", 3, 1, "tokens"), Prediction("b", "", 0, 0, "end-token"))

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name, "answers")

    def test_they_come_back_as_they_were_written_and_as_the_same_bytes(self) -> None:
        write_answers(self.folder, self.made)
        first = (self.folder / FILE).read_bytes()
        self.assertEqual(read_answers(self.folder, ["a", "b"]), list(self.made))
        write_answers(self.folder, self.made)
        self.assertEqual((self.folder / FILE).read_bytes(), first)

    def test_a_rejection_comes_back_as_one_with_its_reason(self) -> None:
        write_answers(self.folder, Rejected("half a character: \ud800"))
        with self.assertRaises(Rejected) as found:
            read_answers(self.folder, ["a", "b"])
        self.assertEqual(str(found.exception), "half a character: \ud800")

    def test_incomplete_answers_fail_the_script(self) -> None:
        write_answers(self.folder, self.made)
        head, first, second = (self.folder / FILE).read_text().splitlines()
        for lines, why in (
            ([], "of format None"),
            ([head.replace('"formatVersion": 1', '"formatVersion": 2'), first, second], "of format 2"),
            ([head, first], "holds 1 of 2 answers"),
            ([head, first, second, second], "holds 3 of 2 answers"),
            ([head, second, first], "other items"),
            ([head, first, second.replace('"tied": 0, ', "")], "other items"),
        ):
            (self.folder / FILE).write_text("".join(f"{line}\n" for line in lines))
            with self.subTest(why), self.assertRaisesRegex(ValueError, why):
                read_answers(self.folder, ["a", "b"])
        (self.folder / FILE).unlink()
        with self.assertRaisesRegex(ValueError, "`generate` in task.yaml"):
            read_answers(self.folder, ["a", "b"])


def item(statement: str, proof: str) -> Item:
    return Item("x", "all", statement, "", proof)


class Slots(unittest.TestCase):
    public = (
        item("If p holds, then p holds.", "theorem keep (p : Prop) (h : p) : p := h"),
        item("If q and r hold, so does q.", "theorem left (q r : Prop) (h : And q r) : q := And.left h"),
        item("If p and r hold, so does r.", "theorem right (p r : Prop) (h : And p r) : r := And.right h"),
        item("Twelve is twelve and holds.", "theorem same : Eq twelve twelve := Eq.refl"),
    )

    def fill(self, statement: str) -> str:
        return fill_slots(self.public, [item(statement, "the reference is not looked at")])[0]

    def test_slot_words_are_those_that_most_proofs_repeat(self) -> None:
        self.assertEqual(own_words(self.public), {"p", "q", "r", "twelve"})

    def test_the_item_s_words_take_the_places_of_the_nearest_statement_s_all_at_once(self) -> None:
        self.assertEqual(
            self.fill("If r and q hold, so does r."),
            "theorem left (r q : Prop) (h : And r q) : r := And.left h",
        )

    def test_statements_with_other_equal_words_differ(self) -> None:
        self.assertEqual(
            self.fill("If r and q hold, so does q."),
            "theorem right (r q : Prop) (h : And r q) : q := And.right h",
        )

    def test_a_slot_that_the_item_lacks_keeps_its_word(self) -> None:
        self.assertEqual(self.fill("q holds."), "theorem keep (q : Prop) (h : q) : q := h")
        self.assertEqual(self.fill("so does"), self.public[1].formal_proof)

    def test_words_of_one_shape_are_taken_for_one_kind(self) -> None:
        self.assertEqual(
            [shape(word) for word in ("n", "twelve", "Nat", "P", "17", "x_1")],
            ["x", "xx", "Xxx", "X", "00", "xx0"],
        )

    def test_the_data_s_own_rows_are_reference_slots_copies_and_nothing_in_this_order(self) -> None:
        rows = generate_references(
            lambda _, texts: {"value": float(len(texts[0])), "standardError": 0.0},
            FIXTURES / "public",
            FIXTURES / "private",
        )
        self.assertEqual(
            [row["name"] for row in rows], ["gold-proofs", "slot-filling", "copy-nearest", "empty"]
        )
        self.assertEqual(rows[0]["value"], float(len(DATA.items[0].formal_proof)))
        self.assertEqual(rows[3]["value"], 0.0)


class Template(unittest.TestCase):
    def read(self, content: bytes | str) -> str:
        with tempfile.TemporaryDirectory() as name:
            data = content if isinstance(content, bytes) else content.encode()
            Path(name, "prompt.json").write_bytes(data)
            return read_template(Path(name))

    def template(self, text: str, **more: Any) -> str:
        return self.read(json.dumps({"formatVersion": 1, "template": text, **more}))

    def test_without_one_there_is_a_default(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(read_template(Path(name)), DEFAULT)

    def test_single_braces_are_plain_text(self) -> None:
        text = "{0} {x : Nat} {{ x : Nat }} {informal_statement.__class__} %s {{informal_statement}}"
        filled = prompt(self.template(text), DATA.items[0])
        self.assertEqual(filled, text.replace("{{informal_statement}}", DATA.items[0].informal_statement))

    def test_an_item_is_never_read_as_a_template(self) -> None:
        item = dataclasses.replace(
            DATA.items[0], informal_statement="{{informal_proof}}", informal_proof="secret"
        )
        self.assertEqual(prompt("{{ informal_statement }}", item), "{{informal_proof}}")

    def test_hostile_templates_are_refused(self) -> None:
        good = "{{informal_statement}}"
        for text in (
            "",
            "no place",
            good + "{{formal_proof}}",
            good + "{{__class__}}",
            good + "{{informal_statement.x}}",
            good * 9,
            "\ud800" + good,
        ):
            with self.subTest(text), self.assertRaises(Rejected):
                self.template(text)
        with self.assertRaises(Rejected):
            self.template(good, code="import os")
        for content in (
            "",
            "[]",
            "{}",
            "[" * 10_000,
            b"\xff",
            '{"formatVersion": true, "template": "{{informal_statement}}"}',
            '{"formatVersion": 1, "template": 3}',
            "x" * (BYTES_MAX + 1),
        ):
            with self.subTest(content[:20]), self.assertRaises(Rejected):
                self.read(content)

    def test_a_link_is_not_followed(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            for target in ("/etc/passwd", "/nowhere"):
                link = Path(name, "prompt.json")
                link.symlink_to(target)
                with self.assertRaisesRegex(Rejected, "not a plain file"):
                    read_template(Path(name))
                link.unlink()


class Data(unittest.TestCase):
    def test_data_of_another_layout_fails_the_script(self) -> None:
        settings = json.loads((FIXTURES / "private/math/settings.json").read_text())
        row = json.loads((FIXTURES / "private/math/test.jsonl").read_text().splitlines()[0])
        lean, generation = settings["lean"], settings["generation"]
        spoiled = [
            ({"formatVersion": 2}, [row]),
            ({"generation": {**generation, "maxNewTokens": 1025}}, [row]),
            ({"generation": {**generation, "secondsPerItem": 0}}, [row]),
            ({"lean": {**lean, "language": "lean3"}}, [row]),
            ({"lean": {**lean, "imports": ["House\nopen Nat"]}}, [row]),
            ({"lean": {**lean, "modules": ["../House"]}}, [row]),
            ({"lean": {**lean, "seconds": 0}}, [row]),
            ({}, []),
            ({}, [row, row]),
            ({}, [{**row, "formal_proof": ""}]),
            ({}, [{**row, "informal_proof": None}]),
        ]
        for change, rows in spoiled:
            with tempfile.TemporaryDirectory() as name, self.subTest(change=change, rows=len(rows)):
                folder = Path(name, "math")
                folder.mkdir()
                (folder / "settings.json").write_text(json.dumps({**settings, **change}))
                (folder / "test.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in rows))
                with self.assertRaises(ValueError):
                    read_math(Path(name))

    def test_the_nearest_public_item_shares_most_words(self) -> None:
        texts = copy_nearest(read_items(FIXTURES / "public/train.jsonl"), DATA.items)
        copied = dict(zip((item.name for item in DATA.items), texts, strict=True))
        self.assertIn("theorem and_left", copied["and_swap"])
        self.assertIn("theorem twice", copied["keep"])

    def test_the_four_scorers_have_the_same_fixture(self) -> None:
        def content(scorer: str) -> dict[str, bytes]:
            folder = FIXTURES.parents[1] / scorer / "fixtures"
            files = [
                path
                for part in ("private", "public")
                for path in sorted((folder / part).rglob("*"))
                if path.is_file()
            ]
            return {str(path.relative_to(folder)): path.read_bytes() for path in files}

        for scorer in ("rouge-l", "lean-compiles", "lean-faithful"):
            self.assertEqual(content(scorer), content("bleu"), scorer)


class Bleu(unittest.TestCase):
    texts = ("theorem a : True", "x", "", *[item.formal_proof for item in DATA.items[3:]])

    def test_it_is_sacrebleu_s_corpus_bleu(self) -> None:
        score, samples = bleu_score(DATA, list(self.texts))
        theirs = BLEU().corpus_score(list(self.texts), [[item.formal_proof for item in DATA.items]])
        self.assertAlmostEqual(score["value"], theirs.score)
        self.assertEqual(
            str(METRIC.get_signature()).split("|version")[0], "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"
        )
        self.assertAlmostEqual(
            math.fsum(sample["value"] for sample in samples) / len(samples), score["value"]
        )

    def test_its_error_is_the_jackknife_s(self) -> None:
        score, samples = bleu_score(DATA, list(self.texts))
        references = [item.formal_proof for item in DATA.items]
        count = len(references)
        left = [
            BLEU()
            .corpus_score(
                list(self.texts[:at] + self.texts[at + 1 :]), [references[:at] + references[at + 1 :]]
            )
            .score
            for at in range(count)
        ]
        mean = sum(left) / count
        error = math.sqrt((count - 1) / count * sum((one - mean) ** 2 for one in left))
        self.assertAlmostEqual(score["standardError"], error)
        values = [sample["value"] for sample in samples]
        spread = sum((value - score["value"]) ** 2 for value in values) / (count - 1) / count
        self.assertAlmostEqual(math.sqrt(spread), error)

    def test_the_references_themselves_reach_100_and_nothing_0(self) -> None:
        self.assertAlmostEqual(
            bleu_score(DATA, [item.formal_proof for item in DATA.items])[0]["value"], 100.0
        )
        self.assertEqual(bleu_score(DATA, [""] * 6)[0]["value"], 0.0)


if __name__ == "__main__":
    unittest.main()
