// Measures the rows that bits per byte are read against. By hand:
//   MLRB_PYTHON=VENV/bin/python node scorers/bits-per-byte/anchors.ts --input public=DIR --input private=DIR
//     --output rows=FILE
import { anchorsWithPython } from "@mlrb/kit/anchors-with-python";

await anchorsWithPython("bits-per-byte", import.meta.dirname);
