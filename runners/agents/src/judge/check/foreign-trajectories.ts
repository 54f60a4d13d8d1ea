// Makes labelled trajectories of a folder of others: each file is read by a reader that is passed in, and labels.json
// beside the files may hold the right answers. Opens what strangers wrote.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Extract } from "@mlrb/formats/judged/extract";
import { foreignLabels, type LabelledFile } from "@mlrb/formats/judged/labelled";
import { type Reading, readFormat, unreadableWords } from "@mlrb/formats/read-format";
import { filesIn } from "@mlrb/kit/files/files-in";

const labelsFile = "labels.json";

/** Every problem names its file. A file that nobody can read costs the whole: its answers would be missing unseen. */
export async function foreignTrajectories(
  folder: string,
  rubric: string,
  read: (path: string) => Promise<Reading<Extract>>,
): Promise<{ kind: "read"; file: LabelledFile } | { kind: "unusable"; causes: string[] }> {
  const names = filesIn(folder);
  const files = names.filter((name) => name !== labelsFile);
  const written = names.includes(labelsFile)
    ? readFormat(foreignLabels, readFileSync(join(folder, labelsFile), "utf8"))
    : undefined;
  const causes = written?.kind === "unreadable" ? [`${labelsFile}: ${unreadableWords(written)}`] : [];
  // labels for another rubric say nothing about this one
  const own = written?.kind === "ok" && written.value.rubric === rubric ? written.value : undefined;
  for (const name of Object.keys(own?.labels ?? {}))
    if (!files.includes(name)) causes.push(`${labelsFile}: there is no file ${name}`);
  const trajectories: LabelledFile["trajectories"] = [];
  for (const id of files) {
    const reading = await read(join(folder, id));
    if (reading.kind === "unreadable") {
      causes.push(`${id}: ${unreadableWords(reading)}`);
      continue;
    }
    const { events, leftOut } = reading.value;
    const labels = own && Object.hasOwn(own.labels, id) ? own.labels[id]! : {};
    const plain = events.map(({ kind, text }) => ({ kind, text }));
    trajectories.push({ id, heldOut: true, events: plain, leftOut, labels });
  }
  if (causes.length > 0) return { kind: "unusable", causes };
  const labelledBy = own?.labelledBy ?? "not labelled";
  return { kind: "read", file: { formatVersion: 1, rubric, labelledBy, trajectories } };
}
