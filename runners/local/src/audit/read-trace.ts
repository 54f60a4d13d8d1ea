// Traces which files a stage's processes open, by strace, and reads such a trace.
import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { RefusalText } from "@mlrb/core/ports/permissions";

/** The audit of one stage instance: undeclared reads, or the reason why it was not traced. */
export type Audited = { stage: string; undeclared: RefusalText[] } | { stage: string; untraced: string };

/** Called with each finding as its stage ends. */
export type Audit = (found: Audited) => void;

/** A command line that writes to `trace` the files that the program and all its child processes open. */
export function traced(argv: readonly string[], trace: string): string[] {
  const flags = "-f -qq -y -z -s 4096 -e trace=open,openat,openat2,execve,getdents64 -e signal=none";
  return ["strace", ...flags.split(" "), "-o", trace, "--", ...argv];
}

export function hasStrace(path = process.env.PATH ?? ""): boolean {
  return path.split(delimiter).some((folder) => existsSync(join(folder, "strace")));
}

export type Opened = { kind: "read" | "list"; path: string };

/** The files opened for reading, the listed folders and the programs; absolute, each once. */
export function openedIn(trace: string): Opened[] {
  const found = new Map<string, Opened>();
  const add = (kind: Opened["kind"], written: string) => {
    const path = unescaped(written);
    if (isAbsolute(path) && !path.endsWith(" (deleted)")) found.set(`${kind} ${path}`, { kind, path });
  };
  for (const line of wholeCalls(trace)) {
    const opened =
      /\bopen(?:at2?)?\([^"]*"(?:[^"\\]|\\.)*"(?:\.\.\.)?, (?:\{flags=)?([A-Z_|0-9]+).*= \d+<(.*)>$/.exec(
        line,
      );
    if (opened) {
      if (!/O_WRONLY|O_DIRECTORY|O_PATH|O_TRUNC/.test(opened[1]!)) add("read", opened[2]!);
      continue;
    }
    const listed = /\bgetdents64\(\d+<(.*?)>,/.exec(line);
    if (listed) add("list", listed[1]!);
    const started = /\bexecve\("((?:[^"\\]|\\.)*)"/.exec(line);
    if (started) add("read", started[1]!);
  }
  return [...found.values()];
}

/** A call that another process interrupts takes two lines in the trace. */
function* wholeCalls(trace: string): Generator<string> {
  const begun = new Map<string, string>();
  for (const line of trace.split("\n")) {
    const process = /^\d+/.exec(line)?.[0] ?? "";
    const end = line.indexOf(" <unfinished ...>");
    if (end >= 0) begun.set(process, line.slice(0, end));
    else yield line.replace(/^\d+ +<\.\.\. \w+ resumed>/, () => begun.get(process) ?? "");
  }
}

/** Decodes a path as strace writes it. */
function unescaped(text: string): string {
  if (!text.includes("\\")) return text;
  const bytes = text.replace(/\\([0-7]{1,3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
  return Buffer.from(bytes.replace(/\\(["\\<>])/g, "$1"), "latin1").toString("utf8");
}
