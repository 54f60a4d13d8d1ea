// What a stage's script may do: what its pipeline declares, and nothing else. A guard against mistakes, so that
// a key holds what is read; not a wall against hostile code. Pure.
import type { Refusal } from "@mlrb/formats/stage/refusal";

export type Permissions = {
  /** Absolute files and folders, folders with all that is in them. */
  reads: string[];
  writes: string[];
  /** Folders whose names it may list, besides those in `reads`; of Python. */
  lists: string[];
  network: boolean;
  programs: boolean;
  /** Absolute; the repository. Nothing in it is read that `reads` does not name. */
  root: string;
  /** Absolute; the module that notes what was refused: of Node to be preloaded, of Python the folder it is in. */
  guard: string;
  /** Absolute; one JSON line for each thing that was refused. */
  refusals: string;
};

/** Node's own flags for it. A program that is started is not held, so it may be Node without any. */
export function nodePermissionFlags({ reads, writes, network, programs, guard }: Permissions): string[] {
  return [
    "--permission",
    "--disable-warning=SecurityWarning",
    ...[...reads, guard].map((path) => `--allow-fs-read=${path}`),
    ...writes.map((path) => `--allow-fs-write=${path}`),
    ...(network ? ["--allow-net"] : []),
    // a worker of Node 26.10 may read all of its working directory, so it is held as little as a program is
    ...(programs ? ["--allow-child-process", "--allow-worker", "--allow-addons", "--allow-wasi"] : []),
    `--require=${guard}`, // --import would make every trace longer
  ];
}

export type Declarer = {
  /** The stage's name and where it is written. */
  stage: string;
  place?: { file: string; line: number };
  /** Its `files:` as written. */
  files: string[];
  /** `programs:` as written, where it is a field. */
  programs?: string;
};

/** What was refused, and the way out of it. */
export type RefusalText = { what: string; help: string };

/** What to write in the pipeline for each refusal; in the order they came, each once. */
export function refusalTexts(refusals: readonly Refusal[], by: Declarer, inside: InsidePath): RefusalText[] {
  const where = `${by.place ? `${by.place.file}:${by.place.line}` : "its pipeline"}, stage "${by.stage}"`;
  const texts = refusals.map((refusal) => {
    const { what, help } = wordsOf(refusal, by, inside);
    return { what: `stage "${by.stage}" ${what}`, help: help.replace("HERE", () => where) };
  });
  return [...new Map(texts.map((text) => [text.what, text])).values()];
}

/** A path from the repository's root; undefined of what is outside of it, or part of the runner's state. */
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
      const line =
        programs === undefined
          ? "in HERE, write `programs: true`"
          : `in HERE, \`programs:\` is ${programs}: write \`programs: true\` in the manifest that it is read from`;
      return {
        what:
          kind === "program"
            ? `starts a program${resource ? ` (${resource})` : ""}, which it does not declare`
            : `loads native code${resource ? ` (${resource})` : ""}, which it does not declare`,
        help: line,
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

/** A pattern as it is written in a YAML list. */
function yamlWord(text: string): string {
  return /^[A-Za-z0-9_./-]+$/.test(text) ? text : JSON.stringify(text);
}
