"""Records in transformers_5.json the settings that transformers 5 writes for folders of honest_folders.py.

transformers 5 and the scoring environment exclude each other. To make the record again:
    python -m venv FIVE && FIVE/bin/pip install torch transformers==5.24.0
    SCORING/bin/python honest_folders.py FOLDER NAME…
    FIVE/bin/python transformers_5.py FOLDER NAME…     (loads each with transformers 5 and saves it again)
Without a NAME, those in the record. The weights of a folder keep their names and values, so they are not
recorded.
"""

import json
import sys
import tempfile
from pathlib import Path

import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

RECORD = Path(__file__).with_name("transformers_5.json")
FILES = ("config.json", "generation_config.json", "tokenizer_config.json")


def settings(folder: Path) -> dict[str, object]:
    kind = (
        AutoModelForSeq2SeqLM
        if AutoConfig.from_pretrained(folder).is_encoder_decoder
        else AutoModelForCausalLM
    )
    with tempfile.TemporaryDirectory() as place:
        kind.from_pretrained(folder).save_pretrained(place)
        AutoTokenizer.from_pretrained(folder).save_pretrained(place)
        return {name: json.loads(Path(place, name).read_text(encoding="utf-8")) for name in FILES}


def main() -> None:
    names = sys.argv[2:] or json.loads(RECORD.read_text(encoding="utf-8"))["folders"]
    folders = {name: settings(Path(sys.argv[1], name)) for name in names}
    record = {"transformers": transformers.__version__, "folders": folders}
    RECORD.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
