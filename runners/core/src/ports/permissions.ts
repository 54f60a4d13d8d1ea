// The permissions of a stage's script: what its pipeline declares. They guard against mistakes, so that a key
// covers everything that is read. They do not stop hostile code. Pure.
import { pathToFileURL } from "node:url";
import type { Refusal } from "@mlrb/formats/stage/refusal";

export type Permissions = {
  /** Absolute files and folders; a folder includes its contents. */
  reads: string[];
  writes: string[];
  /** Folders that it may list besides `reads`; Python only. */
  lists: string[];
  network: boolean;
  programs: boolean;
  /** Absolute; the repository. Inside it only `reads` can be read. */
  root: string;
  /** Absolute; for Node the preloaded module that records refusals, for Python the folder of that module. */
  guard: string;
  /** Absolute; a file with one JSON line per refusal. */
  refusals: string;
};

/** Node's flags for these permissions. Child processes are not restricted. */
export function nodePermissionFlags({ reads, writes, network, programs, guard }: Permissions): string[] {
  return [
    "--permission",
    "--disable-warning=SecurityWarning",
    ...[...reads, guard].map((path) => `--allow-fs-read=${path}`),
    ...writes.map((path) => `--allow-fs-write=${path}`),
    ...(network ? ["--allow-net"] : []),
    // a worker of Node 26.10 can read its whole working directory, so it needs the same permission as a program
    ...(programs ? ["--allow-child-process", "--allow-worker", "--allow-addons", "--allow-wasi"] : []),
    // a URL: the path may hold any letter; --require lets Node strip a script's types to try it as CommonJS first
    `--import=${pathToFileURL(guard).href}`,
  ];
}

export type Declarer = {
  /** The stage's name; `place` is where it is written. */
  stage: string;
  place?: { file: string; line: number };
  /** Its `files:` as written. */
  files: string[];
  /** `programs:` as written, if it names a field. */
  programs?: string;
};

export type RefusalText = { what: string; help: string };

/** Each distinct refusal in order, with what to write in the pipeline. */
export function refusalTexts(refusals: readonly Refusal[], by: Declarer, inside: InsidePath): RefusalText[] {
  const where = `${by.place ? `${by.place.file}:${by.place.line}` : "its pipeline"}, stage "${by.stage}"`;
  const texts = refusals.map((refusal) => {
    const { what, help } = wordsOf(refusal, by, inside);
    return { what: `stage "${by.stage}" ${what}`, help: help.replace("HERE", () => where) };
  });
  return [...new Map(texts.map((text) => [text.what, text])).values()];
}

/** A path from the repository's root; undefined for paths outside the repository or in the runner's state. */
export type InsidePath = (path: string) => string | undefined;

function wordsOf(
  { kind, resource }: Refusal,
  { files, programs }: Declarer,
  inside: InsidePath,
): { what: string; help: string } {
  const own = kind === "read" || kind === "list" || kind === "folder" ? inside(resource) : undefined;
  const declare = (pattern: string) =>
    `in HERE, write \`files: [${[...files, pattern].map(yamlWord).join(", ")}]\``;
  switch (kind) {
    case "read":
      return {
        what: `reads ${own ?? resource}, which it does not declare`,
        help: own === undefined ? outsideHelp : declare(own),
      };
    case "list":
      return {
        what: `lists ${folderWords(own, resource)}, which it does not declare`,
        help: own === undefined ? outsideHelp : own === "" ? narrowerHelp : declare(`${own}/**`),
      };
    case "folder":
      return {
        what: `asks about ${folderWords(own, resource)}, which it does not declare`,
        help: `existsSync and access work on undeclared folders too${own ? `; to read what is in it, ${declare(`${own}/**`)}` : ""}`,
      };
    case "write":
      return {
        what: `writes ${inside(resource) ?? resource}, which is not one of its outputs`,
        help: "write to its outputs, or what need not be kept below TMPDIR",
      };
    case "link":
      return {
        what: "makes a link, which Node's permission model does not allow",
        help: "copy the file",
      };
    case "network":
      return {
        what: `uses the network${resource ? ` (${resource})` : ""}, which it does not declare`,
        help: "in HERE, write `network: full`",
      };
    case "program":
    case "native": {
      const act = kind === "program" ? "starts a program" : "loads native code";
      return {
        what: `${act}${resource ? ` (${resource})` : ""}, which it does not declare`,
        help:
          programs === undefined
            ? "in HERE, write `programs: true`"
            : `in HERE, \`programs:\` is ${programs}: write \`programs: true\` in the manifest that it is read from`,
      };
    }
  }
}

function folderWords(own: string | undefined, resource: string): string {
  return own === "" ? "the repository's root" : `the folder ${own ?? resource}`;
}

const narrowerHelp =
  "in HERE, write under `files:` the folders that it reads, each as `FOLDER/**`, and list those (a glob starts at its `cwd`); kit's sourceFiles(PATTERN) gives the files of a pattern";

const outsideHelp =
  "it is outside the repository: add a stage that outputs it and list that under `needs`, or copy it into the repository";

/** A pattern as written in a YAML list. */
function yamlWord(text: string): string {
  return /^[A-Za-z0-9_./-]+$/.test(text) ? text : JSON.stringify(text);
}
