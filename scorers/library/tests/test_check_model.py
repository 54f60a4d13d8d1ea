import json
import tempfile
import unittest
from pathlib import Path

from scorer_library.check_model import FILE_BYTES_MAX, TEXTS, public_texts, texts_of

LONG = "The ferry left the harbour at seven and it rained."


class PublicTexts(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def write(self, name: str, *rows: object) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return path

    def test_a_line_gives_its_longest_text_of_enough_words(self) -> None:
        rows = (
            {"id": "x" * 200, "text": LONG, "more": LONG[:-10]},
            {"label": "short"},
            [LONG],
            LONG,
            {"n": 1},
        )
        path = self.write("a.jsonl", *rows)
        self.assertEqual(list(texts_of(path)), [LONG])

    def test_lines_that_are_no_json_are_skipped(self) -> None:
        path = self.write("a.jsonl", {"text": LONG})
        path.write_bytes(b"{\n\xff\xfe\n" + path.read_bytes() + b'{"text": "The ferry left')
        self.assertEqual(list(texts_of(path)), [LONG])

    def test_a_large_file_is_read_to_its_limit(self) -> None:
        row = {"text": LONG * 20}
        path = self.write("a.jsonl", *[row] * 2000)
        self.assertLess(len(list(texts_of(path))), 2000)
        self.assertGreater(path.stat().st_size, FILE_BYTES_MAX)

    def test_each_file_gives_the_same_share_of_the_texts(self) -> None:
        self.write("sub/a.jsonl", *({"text": f"{at} {LONG}"} for at in range(100)))
        self.write("b.jsonl", *({"text": f"{at} {LONG}"} for at in range(100)))
        self.write("c.txt", {"text": LONG})
        sources = [text.source for text in public_texts(self.folder)]
        self.assertEqual(len(sources), TEXTS)
        self.assertEqual(sum(source.startswith("a.jsonl/") for source in sources), TEXTS // 2)

    def test_data_without_jsonl_gives_none(self) -> None:
        self.assertEqual(public_texts(self.folder), [])


if __name__ == "__main__":
    unittest.main()
