// `pipeline attempts export RECORD --format …`: one attempt in the format of another program, written piece by piece.
import { closeSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { processName } from "@mlrb/kit/process-name";
import { atif } from "@mlrb/report/exports/atif";
import type { AttemptSource } from "@mlrb/report/exports/attempt-source";
import { inspectLog } from "@mlrb/report/exports/inspect-log";
import type { PlaceOptions } from "./attempts-command.ts";
import { attemptPlace, findAttempt } from "./find-attempt.ts";
import { readAttempt } from "./read-attempt.ts";
import { typedIn } from "./root-of.ts";

const formats: Record<string, (source: AttemptSource) => Iterable<string>> = { inspect: inspectLog, atif };

/** Gathered before it is written. */
const pieceLength = 1 << 20;

export type LogOptions = PlaceOptions & { format: string; output?: string };

export function attemptsExportLog(repository: string, what: string[], options: LogOptions): number {
  const format = formats[options.format];
  const problem = !format
    ? `unknown-format: no format is named "${options.format}"\n  help: one of ${Object.keys(formats).join(", ")}`
    : what.length !== 1
      ? "one-attempt: with --format one attempt is exported\n  help: name one, by the beginning of its digest or as a stage"
      : options.output === undefined
        ? `no-output: --format ${options.format} wants to know where to write\n  help: --output FILE.json`
        : undefined;
  const place = attemptPlace(repository, options.root);
  const found = problem ?? findAttempt(what[0]!, place);
  if (typeof found === "string" || !format || options.output === undefined) {
    process.stderr.write(`${found as string}\n`);
    return 2;
  }
  const path = resolve(typedIn(), options.output);
  const source = readAttempt(found, place);
  const bytes = write(path, format(source));
  const said = { format: options.format, attempt: source.id, file: path, bytes };
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ event: "attempt-exported", ...said })}\n`
      : `attempt ${source.id.slice(0, 12)} written to ${path} (${options.format}, ${bytes} bytes)\n`,
  );
  return 0;
}

/** A whole file or none; gives its bytes. */
function write(path: string, pieces: Iterable<string>): number {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${processName}.tmp`;
  const file = openSync(temporary, "wx");
  let bytes = 0;
  try {
    let text = "";
    const flush = () => {
      const buffer = Buffer.from(text);
      for (let at = 0; at < buffer.length; ) at += writeSync(file, buffer, at);
      bytes += buffer.length;
      text = "";
    };
    for (const piece of pieces) {
      text += piece;
      if (text.length > pieceLength) flush();
    }
    flush();
    renameSync(temporary, path);
  } finally {
    closeSync(file);
    rmSync(temporary, { force: true });
  }
  return bytes;
}
