"""The text of WikiText-2's test split, as agent-eval joins it, and its windows, as agent-eval feeds them."""

from collections.abc import Iterable
from pathlib import Path
from unicodedata import normalize

from mlrb_kit.rejected import Rejected
from mlrb_kit.results import read_jsonl
from mlrb_kit.submission import Submission
from scorer_library.kept_text import check_kept

TEST = Path("wikitext/wikitext-2-raw-v1/test.jsonl")  # in a task's official private data

WINDOW = 256  # tokens
SCORED_FROM = WINDOW // 2 + 1  # of a window, 127 tokens are predicted


def read_wikitext(private: Path) -> str:
    text = joined(row["text"] for row in read_jsonl(private / TEST))
    if not text.strip():
        raise SystemExit(f"{TEST} holds no text: the data stage is at fault, not the submission")
    return text


def joined(rows: Iterable[str]) -> str:
    """The rows in order, an empty row as a space and a line break."""
    return "".join(row or " \n" for row in rows)


def encode_wikitext(submission: Submission, text: str) -> list[int]:
    """Ids of the whole text. Raises Rejected where agent-eval cannot score them."""
    if submission.context is not None and submission.context < WINDOW:
        raise Rejected(f"the model reads {submission.context} tokens at once; agent-eval's windows have 256")
    ids = submission.encode(text)
    # a token without bytes is easy to predict; an honest tokenizer may add one for a space before the text
    if len(ids) > len(text.encode()) + 1:
        raise Rejected("the tokenizer uses more tokens than the text has bytes")
    back = submission.tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
    if normalize("NFC", back).split() != normalize("NFC", text).split():  # some tokenizers join spaces
        raise Rejected("the tokenizer loses text: decoding what it encodes does not give the words back")
    check_kept(submission, [text])
    if len(ids) < WINDOW:
        raise Rejected(f"the tokenizer gives {len(ids)} tokens for the whole text, less than one window")
    return ids


def token_windows(submission: Submission, ids: list[int]) -> list[list[int]]:
    """What the model reads at once. BOS takes the place of each window's first token."""
    starts = range(0, len(ids) - WINDOW + 1, WINDOW)
    return [[submission.start_id, *ids[start + 1 : start + WINDOW]] for start in starts]
