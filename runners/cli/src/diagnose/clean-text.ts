// Removes from texts what a diagnostic bundle must not have: keys, and names of this machine, its user and its
// folders. Pure: no disk, no clock.

import { formsOf, textRedactor } from "@mlrb/core/ports/redactor";

/** Variables whose values count as secrets, besides those that a plan names. */
const secretName = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE/i;

/** Keys by their form: one that is not in this shell's variables may be in a text of an earlier run. */
const keyForms: [RegExp, string][] = [
  [/\b(?:sk|pk|rk)-[A-Za-z0-9_-]{12,}/g, "[redacted key]"],
  [/\bhf_[A-Za-z0-9]{12,}/g, "[redacted key]"],
  [/\b(?:gh[pousr]|github_pat|glpat|xox[abprs])[-_][A-Za-z0-9_-]{12,}/g, "[redacted key]"],
  [/\bAIza[A-Za-z0-9_-]{20,}/g, "[redacted key]"],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g, "[redacted key]"],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?/g, "[redacted token]"],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9+/=._~-]{8,}/gi, "$1 [redacted]"],
  [/\b((?:https?|ssh|git):\/\/)[^\s/@]+@/gi, "$1[redacted]@"],
];

/** A word after "basic" or "bearer" in a sentence is no key, so a key there is long and has a digit. */
const surelyKeys: [RegExp, string][] = [
  ...keyForms.filter(([pattern]) => !pattern.source.includes("Bearer")),
  [/\b(Bearer|Basic)\s+(?=[A-Za-z+/=._~-]*\d)[A-Za-z0-9+/=._~-]{16,}/gi, "$1 [redacted]"],
];

export type Environment = {
  variables: Record<string, string | undefined>;
  /** Names of variables that a plan passes to stages as secrets. */
  secrets: readonly string[];
  /** Folders with the words that replace them. */
  folders: readonly (readonly [path: string, word: string])[];
  host: string;
  user: string;
};

/** A shorter line of a secret may occur in a text by chance. */
const secretLineMin = 12;

/** A secret, and each long line of it: a program may print one line of a key file. */
function withLines([name, value]: [string, string]): [string, string][] {
  const lines = value.split(/\r?\n|\\n/).map((line) => line.trim());
  if (lines.length === 1) return [[name, value]];
  const long = lines.flatMap((line, at): [string, string][] =>
    line.length >= secretLineMin ? [[`${name} line ${at + 1}`, line]] : [],
  );
  return [[name, value], ...long];
}

/** A folder at the boundaries of a path: neither the end of a longer path nor the beginning of a longer name. */
function folderPattern(path: string): RegExp {
  return new RegExp(`(?<!/[\\w.~+-]+)${RegExp.escape(path)}(?![\\w-]|\\.\\w)`, "g");
}

/** The host's short name, with any domain after it. */
function hostPattern(host: string): RegExp[] {
  const [name = ""] = host.split(".");
  return name.length >= 4
    ? [new RegExp(`(?<![\\w.-])${RegExp.escape(name)}(?:\\.[\\w-]+)*(?![\\w-])`, "g")]
    : [];
}

/** `root` names no person, and is a word of many texts. */
function userPattern(user: string): RegExp[] {
  return user.length >= 2 && user !== "root"
    ? [new RegExp(`(?<!\\w)${RegExp.escape(user)}(?!\\w)`, "g")]
    : [];
}

export function textCleaner({
  variables,
  secrets,
  folders,
  host,
  user,
}: Environment): (text: string) => string {
  const redact = secretRedactor({ variables, secrets });
  const inner = folders.filter(([path]) => path.length > 1).sort(([a], [b]) => b.length - a.length);
  const words: [RegExp, string][] = [
    ...keyForms,
    ...inner.map(([path, word]): [RegExp, string] => [folderPattern(path), word]),
    ...hostPattern(host).map((pattern): [RegExp, string] => [pattern, "HOST"]),
    ...userPattern(user).map((pattern): [RegExp, string] => [pattern, "USER"]),
  ];
  return (text) => words.reduce((clean, [pattern, word]) => clean.replace(pattern, word), redact(text));
}

/** Removes keys and nothing else: names of the machine stay, so that the text is the same for every user. */
export function keyCleaner(of: Pick<Environment, "variables" | "secrets">): (text: string) => string {
  const redact = secretRedactor(of);
  return (text) => surelyKeys.reduce((clean, [pattern, word]) => clean.replace(pattern, word), redact(text));
}

function secretRedactor({
  variables,
  secrets,
}: Pick<Environment, "variables" | "secrets">): (text: string) => string {
  const named = Object.entries(variables).filter(
    ([name, value]) =>
      value && (secrets.includes(name) || secretName.test(name)) && formsOf(value).length > 0,
  ) as [string, string][];
  return textRedactor(Object.fromEntries(named.flatMap(withLines)));
}

const frames = [
  /^\s*File "[\w./@<>+-]{1,200}", line \d+, in [\w<>.]{1,100}$/,
  /^\s*at (?:async )?[\w$.<> [\]]{0,100} ?\(?(?:file:\/\/)?[\w./@:+-]{1,200}:\d+:\d+\)?$/,
];
const failure = /^([A-Za-z_][\w.]{0,80}(?:Error|Exception|Interrupt|Warning|Exit))(?::.*)?$/;

/**
 * What a log shows of where a program failed, without a word of what it read: stack frames and names of errors.
 * For logs of stages that read private data, because an error message may quote a row.
 */
export function shapeOf(log: string): string {
  const lines = log.split("\n").flatMap((line) => {
    if (frames.some((frame) => frame.test(line))) return [line];
    const name = failure.exec(line)?.[1];
    return name === undefined ? [] : [`${name}: [left out]`];
  });
  return lines.map((line) => `${line}\n`).join("");
}
