// What every scorer that is written in Python does around its measure.py: what was not admitted is
// rejected without being opened, and the result gets the header that scorer.yaml declares.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeJson, writeWhole } from "./json-file.ts";
import { python } from "./python.ts";
import type { Rejected, Score, Scored } from "./score.ts";
import { stage } from "./stage.ts";
import type { Admission } from "./verdict.ts";

export async function scoreWithPython(scorer: string, folder: string): Promise<void> {
  const { params, inputs, outputs } = stage();
  const { score, samples } = outputs as { score: string; samples: string };
  const admission = readJson<Admission>(inputs.admission ?? "");

  let result: Scored | Rejected;
  if (admission.admitted) {
    const raw = `${score}.raw`;
    const flags = Object.entries({
      submission: inputs.submission,
      private: inputs.private,
      score: raw,
      samples,
    });
    await python(
      join(folder, "measure.py"),
      flags.flatMap(([name, path]) => [`--${name}`, path ?? ""]),
    );
    result = readJson<Scored | Rejected>(raw);
    rmSync(raw);
  } else {
    const reasons = admission.reasons.map(({ detail }) => detail).join("; ");
    result = { kind: "rejected", reason: `not admitted: ${reasons}` };
    writeWhole(samples, "");
  }

  const header = {
    formatVersion: 1,
    scorer,
    version: Number(params.version),
    unit: String(params.unit),
    direction: params.direction === "lower" ? "lower" : "higher",
  } as const;
  writeJson(score, { ...header, ...result } satisfies Score);
}
