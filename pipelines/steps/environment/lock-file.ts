// The format of a lock file and of its .in file: pip's requirement lines, in sections that pip reads as comments.
// Lines are installed in different ways:
//
//   # section: unhashed   any build of this version (torch: CPU and CUDA builds differ in bytes)
//   # section: wheels     one of the hashed files, unchanged
//   # section: sources    one of the hashed files, built here unless it is a wheel
//   # section: optional   as wheels, on machines with a tag of the line `# only:` above the pin; `# without:` says
//                         what other machines lack
//   # section: alone      as wheels, for their files only: their declared dependencies are not installed
//
// `# warm: STATEMENTS` is Python that tries the new environment out. All such lines run at the same time. Pure.

export const sections = ["unhashed", "wheels", "sources", "optional", "alone"] as const;
export type Section = (typeof sections)[number];

/** A requirement with its section and the notes in the comments above it. */
export type Entry = {
  section: Section;
  line: number;
  /** Without the continuation lines' backslashes. */
  text: string;
  /** The wheel tags of `# only:`. */
  only: string[];
  without?: string;
};

export type Pin = Entry & {
  /** As written; `key` is the normalized form, used to compare names. */
  name: string;
  key: string;
  version: string;
  marker?: string;
  /** `sha256:…` of each file of the release; none in `unhashed`. */
  hashes: string[];
};

export type Sections = { warm: string[]; entries: Entry[]; problems: string[] };
export type Lock = { warm: string[]; pins: Pin[] };

const pinForm =
  /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)==([A-Za-z0-9.!+]+)(?:\s*;\s*(.+?))?((?:\s+--hash=\S+)*)$/;

/** Normalizes a package name (PEP 503). */
export function nameKey(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}

/** The entries of a lock or .in file. `file` names it in problems. */
export function readSections(text: string, file: string): Sections {
  const read: Sections = { warm: [], entries: [], problems: [] };
  let section: Section | undefined;
  let notes: Pick<Entry, "only" | "without"> = { only: [] };
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = at + 1;
    const [, word, said] = /^#\s*(section|only|without|warm):\s*(.*?)\s*$/.exec(lines[at]!) ?? [];
    if (word === "warm") read.warm.push(said!);
    if (word === "only") notes.only = said!.split(/\s+/);
    if (word === "without") notes.without = said!;
    if (word === "section") {
      section = sections.find((name) => name === said);
      if (!section) {
        read.problems.push(
          `${file}:${line}: no section is named "${said}"; there are ${sections.join(", ")}`,
        );
        section = "wheels"; // the rest is read too, to report all problems
      }
    }
    let entry = withoutComment(lines[at]!);
    while (entry.endsWith("\\") && at + 1 < lines.length)
      entry = `${entry.slice(0, -1).trimEnd()} ${withoutComment(lines[++at]!).trimStart()}`;
    if (entry === "") continue;
    if (section) read.entries.push({ section, line, text: entry, ...notes });
    else read.problems.push(`${file}:${line}: "${entry}" comes before the first "# section:" line`);
    notes = { only: [] };
  }
  return read;
}

/** The pins of a lock file, or all of its problems. */
export function readLock(text: string, file: string): Lock | { problems: string[] } {
  const { warm, entries, problems } = readSections(text, file);
  const pins: Pin[] = [];
  for (const entry of entries) {
    const at = `${file}:${entry.line}:`;
    const pin = readPin(entry);
    if (!pin) {
      problems.push(`${at} "${shown(entry.text)}" is no pin; expected NAME==VERSION and its hashes`);
      continue;
    }
    const { section, hashes, only, name } = pin;
    if (hashes.some((hash) => !/^sha256:[0-9a-f]{64}$/.test(hash)))
      problems.push(`${at} ${name} has a hash that is not sha256 and 64 digits`);
    if (section === "unhashed" && hashes.length > 0)
      problems.push(`${at} ${name} has hashes, which are not checked in section unhashed`);
    if (section !== "unhashed" && hashes.length === 0) problems.push(`${at} ${name} has no hash`);
    if ((section === "optional") !== only.length > 0)
      problems.push(`${at} ${name}: a line "# only: TAG" belongs above each optional pin and no other`);
    pins.push(pin);
  }
  return problems.length > 0 ? { problems } : { warm, pins };
}

/** Returns undefined unless the text is `NAME==VERSION`, with or without marker and hashes. */
export function readPin<T extends { text: string }>(entry: T): (T & Omit<Pin, keyof Entry>) | undefined {
  const [, name, version, marker, hashes] = pinForm.exec(entry.text) ?? [];
  if (!name || !version) return undefined;
  return {
    ...entry,
    name,
    key: nameKey(name),
    version,
    ...(marker && { marker }),
    hashes: [...hashes!.matchAll(/--hash=(\S+)/g)].map((match) => match[1]!),
  };
}

/** A requirement line for pip, with one line for each hash. */
export function pinText({ name, version, marker, hashes }: Omit<Pin, keyof Entry>): string {
  const first = `${name}==${version}${marker ? ` ; ${marker}` : ""}`;
  return [first, ...hashes.map((hash) => `    --hash=${hash}`)].join(" \\\n");
}

function withoutComment(line: string): string {
  return line.replace(/(^|\s)#.*$/, "").trimEnd();
}

function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}
