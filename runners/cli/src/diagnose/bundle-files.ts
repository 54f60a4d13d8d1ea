// The files of a diagnostic bundle: only named kinds of text, each cleaned. A bundle holds no artifact and no file of a
// record: no data, no weights, no trajectory.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { reasonWords } from "@mlrb/core/key/reasons";
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { readFrom } from "@mlrb/kit/files/read-from";
import type { Preview } from "@mlrb/local/decide/preview-plan";
import { type JournalLine, journalLines } from "@mlrb/local/journal/journal-lines";
import { logPath } from "@mlrb/local/stage/log-path";
import type { StateFolder } from "@mlrb/local/store/state-folder";
import { shapeOf } from "./clean-text.ts";

export type BundleFile = { name: string; text: string };

const journalsMax = 5;
/** Of each log and each journal, the end. */
const tailBytes = 256 << 10;

type Source = { plan: Plan; state: Pick<StateFolder, "journals" | "logs">; clean: (text: string) => string };

/** Instances whose logs may quote private data: they read or make a private artifact. */
export function privateInstances({ instances }: Plan): Set<string> {
  const isPrivate = ({ from, output }: { from: number; output: string }) =>
    instances[from]!.stage.gives.some((given) => given.name === output && given.private);
  return new Set(
    instances
      .filter(
        ({ stage, inputs, members }) =>
          stage.gives.some((given) => given.private) ||
          [...inputs, ...members.filter(({ digestOnly }) => !digestOnly)].some(isPrivate),
      )
      .map(({ id }) => id),
  );
}

export function planFile(plan: Plan, previews: readonly Preview[], clean: Source["clean"]): BundleFile {
  const lines = previews.map(
    ({ index, action, reasons }) =>
      `${action.padEnd(5)}  ${plan.instances[index]!.id}  (${reasons.map(reasonWords).join("; ")})\n`,
  );
  return { name: "plan.txt", text: clean(lines.join("")) };
}

/** The newest journals of the plan's pipeline and profile. */
export function journalFiles({ plan, state, clean }: Source): BundleFile[] {
  const hidden = privateInstances(plan);
  const known = new Set(plan.instances.map(({ id }) => id));
  const mayQuote = (stage: string | undefined) =>
    stage !== undefined && (hidden.has(stage) || !known.has(stage));
  const names = readdirSync(state.journals)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .reverse();
  const files: BundleFile[] = [];
  for (const name of names) {
    const lines = journalLines(join(state.journals, name));
    const begun = lines.find(({ event }) => event === "begin");
    if (begun?.pipeline !== plan.pipeline || begun.profile !== plan.profile) continue;
    const texts = lines.map((line) => JSON.stringify(mayQuote(line.stage) ? withoutDetail(line) : line));
    files.push({ name: `journals/${name}`, text: clean(texts.map((text) => `${text}\n`).join("")) });
    if (files.length === journalsMax) break;
  }
  return files;
}

/** The fields of a line that hold no output of a program. */
const plainFields = new Set([
  "event",
  "time",
  "stage",
  "key",
  "durationMs",
  "tried",
  "since",
  "cause",
  "log",
]);

function withoutDetail(line: JournalLine & { outcome?: unknown }): object {
  const { kind, cause } = Object(line.outcome) as { kind?: unknown; cause?: unknown };
  const plain = Object.entries(line).filter(([name]) => plainFields.has(name));
  return {
    ...Object.fromEntries(plain),
    ...(kind !== undefined && { outcome: { kind, ...(cause !== undefined && { cause }) } }),
  };
}

/** The end of the last log of each instance. */
export function logFiles({ plan, state, clean }: Source): BundleFile[] {
  const hidden = privateInstances(plan);
  return plan.instances.flatMap((instance): BundleFile[] => {
    const text = endOf(logPath(state.logs, instance.id));
    if (text === undefined) return [];
    const shown = hidden.has(instance.id) ? shapeOf(text) : text;
    if (shown === "") return [];
    const head = `# ${instance.id}${hidden.has(instance.id) ? ", which reads private data: only where it failed" : ""}\n`;
    return [{ name: `logs/${fileName(instance)}.log`, text: clean(head + shown) }];
  });
}

function fileName({ id, index }: Instance): string {
  return `${String(index).padStart(4, "0")}-${id.replace(/[^\w.=-]+/g, "_").slice(0, 120)}`;
}

function endOf(path: string): string | undefined {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return undefined;
  const text = String(readFrom(path, Math.max(0, size - tailBytes), tailBytes));
  // the rest of a line may be half of a secret
  return size > tailBytes ? text.slice(text.indexOf("\n") + 1) : text;
}
