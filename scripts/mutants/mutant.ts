// What a mutation run is about: single changes of the product's text, a sample of them, and the words in which
// it says what became of them. Pure: no disk, no processes.
import { hash } from "node:crypto";

/** Lines and columns count from 1, as in a report of Stryker; `end` is not part of it. */
export type Place = { line: number; column: number };

export type Mutant = {
  /** From the repository's root. */
  file: string;
  location: { start: Place; end: Place };
  replacement: string;
  mutatorName: string;
};

export type Fate = "killed" | "killed-by-types" | "survived" | "not-run";

/** Says which mutant it is, whatever number it has in one run of Stryker. */
export function nameOf({ file, location, replacement }: Mutant): string {
  const { start, end } = location;
  return `${file}:${start.line}:${start.column}-${end.line}:${end.column} ${replacement}`;
}

/** The same for the same seed; an edit of one file does not change which mutants of the others are taken. */
export function sampleOf<M extends Mutant>(mutants: readonly M[], seed: number, size: number): M[] {
  const rank = (mutant: M) => hash("sha256", `${seed} ${nameOf(mutant)}`);
  return mutants
    .map((mutant) => ({ mutant, at: rank(mutant) }))
    .sort((one, other) => (one.at < other.at ? -1 : 1))
    .slice(0, size)
    .map(({ mutant }) => mutant);
}

/** The text of its file with the change made. */
export function mutated(text: string, { location, replacement }: Mutant): string {
  return text.slice(0, offset(text, location.start)) + replacement + text.slice(offset(text, location.end));
}

/** Shares by module, then each survivor with its place and change. `texts`: the files' own text. */
export function reportText(
  fates: readonly { mutant: Mutant; fate: Fate }[],
  texts: ReadonlyMap<string, string>,
): string {
  const isKilled = ({ fate }: { fate: Fate }) => fate === "killed" || fate === "killed-by-types";
  const share = (some: readonly { fate: Fate }[]) => {
    const killed = some.filter(isKilled).length;
    return `${((100 * killed) / some.length).toFixed(1).padStart(5)} %  ${killed} of ${some.length}`;
  };
  const byFile = [...Map.groupBy(fates, ({ mutant }) => mutant.file)].sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const survivors = byFile.flatMap(([, some]) =>
    some
      .filter((one) => !isKilled(one))
      .sort((one, other) => one.mutant.location.start.line - other.mutant.location.start.line),
  );
  const byTypes = fates.filter(({ fate }) => fate === "killed-by-types").length;
  return [
    ...survivors.flatMap(({ mutant, fate }) => {
      const { file, location, replacement, mutatorName } = mutant;
      const text = texts.get(file)!;
      const original = text.slice(offset(text, location.start), offset(text, location.end));
      const unseen = fate === "not-run" ? ", no test runs it" : "";
      return [
        `survived ${file}:${location.start.line}:${location.start.column} ${mutatorName}${unseen}`,
        `  - ${oneLine(original)}`,
        `  + ${oneLine(replacement)}`,
      ];
    }),
    ...byFile.map(([file, some]) => `${share(some)}  ${file}`),
    `${share(fates)}  killed in all, ${byTypes} of them by tsc`,
  ].join("\n");
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 160 ? `${line.slice(0, 157)}…` : line;
}

function offset(text: string, { line, column }: Place): number {
  let at = 0;
  for (let left = line - 1; left > 0; left--) at = text.indexOf("\n", at) + 1;
  return at + column - 1;
}
