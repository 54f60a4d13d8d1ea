// Scores one submission on the house's minimal pairs. By hand:
//   MLRB_PYTHON=VENV/bin/python node scorers/house-pairs/score.ts --param version=1 --param unit=accuracy
//     --param direction=higher --input submission=DIR --input admission=FILE --input private=DIR
//     --output score=FILE --output samples=FILE
import { scoreWithPython } from "@mlrb/kit/score-with-python";

await scoreWithPython("house-pairs", import.meta.dirname);
