// Measures the rows that accuracies on house pairs are read against. By hand:
//   MLRB_PYTHON=VENV/bin/python node scorers/house-pairs/anchors.ts --input public=DIR --input private=DIR
//     --output rows=FILE
import { anchorsWithPython } from "@mlrb/kit/anchors-with-python";

await anchorsWithPython("house-pairs", import.meta.dirname);
