// Scores one submission in bits per byte of held-out text. By hand:
//   MLRB_PYTHON=VENV/bin/python node scorers/bits-per-byte/score.ts --param version=1 --param unit=bits/byte
//     --param direction=lower --input submission=DIR --input admission=FILE --input private=DIR
//     --output score=FILE --output samples=FILE
import { scoreWithPython } from "@mlrb/kit/score-with-python";

await scoreWithPython("bits-per-byte", import.meta.dirname);
