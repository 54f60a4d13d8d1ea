// `pipeline attempts export WHAT --format …`: writes an attempt, or all attempts of a run, for another program.

import { existsSync, fstatSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import { openedFile } from "@mlrb/kit/files/opened-file";
import { processName } from "@mlrb/kit/processes/process-name";
import { atif, atifFileName } from "@mlrb/report/exports/atif";
import type { AttemptSource } from "@mlrb/report/exports/attempt-source";
import { inspectFileName, inspectLog } from "@mlrb/report/exports/inspect-log";
import { attemptsOfRuns } from "../../attempts/attempts-of-run.ts";
import { readAttempt } from "../../attempts/read-attempt.ts";
import {
  type AttemptPlace,
  attemptPlace,
  type FoundAttempt,
  findAttempt,
} from "../../request/find-attempt.ts";
import { refuseWords } from "../../request/refuse.ts";
import { type PlaceOptions, typedIn } from "../../request/root-folder.ts";
import { printJson } from "../../show/print.ts";

/** `pieces` is the text. */
type ExportFile = { name: string; pieces: () => Iterable<string> };

/** The file of the attempts that it gets: of a run if one file holds all of them (`wholeRun`), else of one attempt. */
type Format = { file(sources: AttemptSource[]): ExportFile; wholeRun: boolean };

const formats: Record<string, Format> = {
  inspect: {
    file: (sources) => ({ name: inspectFileName(sources), pieces: () => inspectLog(sources) }),
    wholeRun: true,
  },
  atif: {
    file: ([source]) => ({ name: atifFileName(source!), pieces: () => atif(source!) }),
    wholeRun: false,
  },
};

/** Characters that are collected before a write. */
const pieceLength = 1 << 20;

export type ExportLogOptions = PlaceOptions & { format: string; output?: string; profile?: string };

export function attemptsExportLog(repository: string, what: string[], options: ExportLogOptions): number {
  const place = attemptPlace(repository, options.root);
  const asked = documentsOf(what, options, place);
  if (typeof asked === "string") return refuseWords(asked);
  for (const { sources, file, pieces } of asked) {
    const bytes = write(file, pieces());
    const ids = sources.map(({ id }) => id);
    const [first] = ids;
    const { format } = options;
    const words = ids.length === 1 ? `attempt ${first!.slice(0, 12)}` : `${ids.length} attempts`;
    if (options.json)
      printJson({ event: "attempt-exported", attempt: first, attempts: ids, format, file, bytes });
    else process.stdout.write(`${words} written to ${file} (${format}, ${bytes} bytes)\n`);
  }
  return 0;
}

type Document = { sources: AttemptSource[]; file: string; pieces: ExportFile["pieces"] };

/** A text is a problem with the request, with its help. */
function documentsOf(what: string[], options: ExportLogOptions, place: AttemptPlace): Document[] | string {
  const format = formats[options.format];
  if (!format)
    return `unknown-format: no format is named "${options.format}"\n  help: one of ${Object.keys(formats).join(", ")}`;
  if (what.length !== 1)
    return "one-attempt: --format exports one attempt or one run\n  help: name an attempt by the beginning of its digest or as a stage, or a run by its pipeline";
  const { output } = options;
  if (output === undefined)
    return `no-output: --format ${options.format} needs --output\n  help: --output FILE.json, or --output DIR/ for file names that other programs' listings find`;
  const found = attemptsNamed(what[0]!, options.profile, place);
  if (typeof found === "string") return found;
  const runs = found.map((run) => run.map((one) => readAttempt(one, place)));
  const groups = format.wholeRun ? runs : runs.flatMap((run) => run.map((source) => [source]));
  const files = groups.map((sources) => ({ sources, ...format.file(sources) }));
  const path = resolve(typedIn(), output);
  const isFolder =
    /[\\/]$/.test(output) || extname(output) === "" || (existsSync(path) && statSync(path).isDirectory());
  if (!isFolder && files.length > 1)
    return `several-files: "${what[0]}" takes ${files.length} files of format ${options.format}\n  help: --output ${output}/ writes each under its own name${format.wholeRun ? "; --profile selects one run" : ""}`;
  return files.map(({ name, ...one }) => ({ ...one, file: isFolder ? join(path, name) : path }));
}

/** One list of attempts for each run. A pipeline's name selects all attempts of its runs. */
function attemptsNamed(
  what: string,
  profile: string | undefined,
  place: AttemptPlace,
): FoundAttempt[][] | string {
  const runs = attemptsOfRuns(what, undefined, place);
  if (runs.size === 0 && profile === undefined) {
    const found = findAttempt(what, place);
    return typeof found === "string" ? found : [[found]];
  }
  if (profile === undefined) return [...runs.values()];
  const run = runs.get(profile);
  if (run) return [run];
  const known = [...runs.keys()].join(", ") || "none";
  return `unknown-run: pipeline "${what}" has no attempt of profile "${profile}"\n  help: profiles with attempts: ${known}`;
}

/** Writes the whole file or none; returns its size in bytes. */
function write(path: string, pieces: Iterable<string>): number {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${processName}.tmp`;
  using file = openedFile(temporary, "wx");
  try {
    let text = "";
    for (const piece of pieces) {
      text += piece;
      if (text.length <= pieceLength) continue;
      writeFileSync(file.descriptor, text);
      text = "";
    }
    writeFileSync(file.descriptor, text);
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
  return fstatSync(file.descriptor).size;
}
