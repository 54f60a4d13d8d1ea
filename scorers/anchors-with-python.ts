// What every scorer does around its anchors.py, which measures the rows that scores are read against.
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { readJson, writeJson } from "@mlrb/kit/json-file";
import { python } from "@mlrb/kit/python";
import type { AnchorRow, Anchors } from "@mlrb/kit/score";
import { stage } from "@mlrb/kit/stage";

export async function anchorsWithPython(scorer: string, folder: string): Promise<void> {
  const { inputs, outputs } = stage();
  const rows = outputs.rows ?? "";
  const raw = `${rows}.raw`;
  process.env.PYTHONPATH ??= resolve(import.meta.dirname, "../runners/kit/python");
  const flags = Object.entries({ public: inputs.public, private: inputs.private, rows: raw });
  await python(
    join(folder, "anchors.py"),
    flags.flatMap(([name, path]) => [`--${name}`, path ?? ""]),
  );
  writeJson(rows, { formatVersion: 1, scorer, rows: readJson<AnchorRow[]>(raw) } satisfies Anchors);
  rmSync(raw);
}
