"""Checks what is said of a tokenizer's files: steps that rewrite letters, and scored texts in any string."""

import json
import tempfile
import unittest
from pathlib import Path
from time import process_time
from typing import Any

from kept_tokenizers import CHEATS, HONEST, pairs, texts
from tokenizers import AddedToken, Regex, decoders, normalizers, pre_tokenizers

from scorer_library.tokenizer_files import STRING, names_letters, tokenizer_finding

REWRITING = " steps of its normalizer replace, add or remove certain letters"


class Files(unittest.TestCase):
    def finding(self, tokenizer: Any, **files: str) -> dict[str, str]:
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save_pretrained(folder)
            for name, content in files.items():
                Path(folder, name.replace("_json", ".json").replace("_txt", ".txt")).write_text(
                    content, encoding="utf-8"
                )
            return tokenizer_finding(Path(folder), set(texts()))

    def test_honest_tokenizers_name_no_letters_and_hold_no_scored_text(self) -> None:
        for name in (
            "bytes of GPT-2",
            "uncased WordPiece",
            "T5",
            "ALBERT",
            "legacy Llama",
            "BPE across words",
        ):
            with self.subTest(name):
                self.assertEqual(self.finding(HONEST[name]())["answer"], "pass")

    def test_each_step_that_replaces_adds_or_removes_letters_is_counted(self) -> None:
        bytes_of = HONEST["bytes of GPT-2"]
        for step in (
            normalizers.Replace("cat", ""),
            normalizers.Replace(Regex(r"(?<=\bdogs )b"), "☃"),
            normalizers.Replace(Regex(r"\s"), "x"),
            normalizers.Prepend("yes"),
        ):
            tokenizer = bytes_of()
            parts = [normalizers.NFKC(), normalizers.Replace(Regex(r"\s+|\p{Z}"), " "), step]
            tokenizer.backend_tokenizer.normalizer = normalizers.Sequence(parts)
            found = self.finding(tokenizer)
            self.assertEqual(found, {"answer": "fail", "detail": f"1 of 4{REWRITING}"})
        tokenizer = bytes_of()
        tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Split("s", "removed")
        self.assertIn("1 of 1 steps of its pre_tokenizer", self.finding(tokenizer)["detail"])
        tokenizer = bytes_of()
        tokenizer.backend_tokenizer.decoder = decoders.Replace("☃", "were")
        self.assertIn("1 of 1 steps of its decoder", self.finding(tokenizer)["detail"])

    def test_scored_texts_are_found_in_tokens_entries_patterns_and_settings_and_only_counted(self) -> None:
        sentence, other = pairs()[0][0].strip(), pairs()[1][1].strip()
        added = HONEST["bytes of GPT-2"]()
        added.add_tokens([AddedToken(sentence), AddedToken(other.replace(" ", "Ġ"))])
        pattern = HONEST["bytes of GPT-2"]()
        pattern.backend_tokenizer.normalizer = normalizers.Replace(Regex(f"☃|{sentence}|{other}"), "☃")
        for tokenizer in (added, pattern):
            found = self.finding(tokenizer)
            self.assertEqual(found["answer"], "fail")
            self.assertRegex(found["detail"], r"tokenizer\.json holds letters of [2-9] of \d+ scored texts")
            self.assertNotIn(sentence, found["detail"])
        merged = self.finding(CHEATS["merges that build a sentence"]())
        self.assertIn("tokenizer.json holds letters of ", merged["detail"])
        plain = HONEST["bytes of GPT-2"]()
        rows = json.dumps({"rows": [{"deep": [sentence]}]})
        self.assertIn("more.json holds", self.finding(plain, more_json=rows)["detail"])
        self.assertIn("vocab.txt holds", self.finding(plain, vocab_txt=f"a\n{sentence}\nb")["detail"])

    def test_files_that_are_no_json_are_searched_or_undecided(self) -> None:
        sentence = pairs()[0][0].strip()
        odd = f'{{"x\\q": "\\ud800{sentence}", "\\u0054{sentence[1:]}'
        found = self.finding(HONEST["bytes of GPT-2"](), vocab_json=odd + '"')
        self.assertIn("vocab.json holds", found["detail"])
        broken = self.finding(HONEST["bytes of GPT-2"](), tokenizer_json="{")
        self.assertEqual(broken["answer"], "undecided")

    def test_words_of_a_vocabulary_are_no_texts(self) -> None:
        words = "\n".join(word for text in texts() for word in text.split())
        self.assertEqual(self.finding(HONEST["bytes of GPT-2"](), vocab_txt=words)["answer"], "pass")

    def test_a_long_text_is_searched_in_time_that_grows_with_its_length(self) -> None:
        begun = process_time()
        for part in ("{" + "1" * 2**15, "\\p{" * 2**16):
            self.assertFalse(names_letters({"type": "Sequence", "content": part}))
        self.assertEqual(len(STRING.findall('"' + '\\"' * 2**14 + "\\")), 1)
        self.assertLess(process_time() - begun, 2)


if __name__ == "__main__":
    unittest.main()
