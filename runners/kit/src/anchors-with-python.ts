// What every scorer does around its anchors.py, which measures the rows that scores are read against.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeJson } from "./json-file.ts";
import { python } from "./python.ts";
import type { AnchorRow, Anchors } from "./score.ts";
import { stage } from "./stage.ts";

export async function anchorsWithPython(scorer: string, folder: string): Promise<void> {
  const { inputs, outputs } = stage();
  const rows = outputs.rows ?? "";
  const raw = `${rows}.raw`;
  const flags = Object.entries({ public: inputs.public, private: inputs.private, rows: raw });
  await python(
    join(folder, "anchors.py"),
    flags.flatMap(([name, path]) => [`--${name}`, path ?? ""]),
  );
  writeJson(rows, { formatVersion: 1, scorer, rows: readJson<AnchorRow[]>(raw) } satisfies Anchors);
  rmSync(raw);
}
