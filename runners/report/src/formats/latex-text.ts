// Any text as LaTeX that prints it and does nothing else. Agents have a say in titles, notes and evidence, and
// a command that slips through would read files or stop the author's paper from compiling.
import { plainText } from "../read/plain-text.ts";

/** Evidence of several rules fits. */
const textMax = 2000;

/** Longer words may be broken anywhere after as many characters. */
const unbrokenMax = 20;

const commands: Record<string, string> = {
  "\\": "\\textbackslash{}",
  "{": "\\{",
  "}": "\\}",
  $: "\\$",
  "&": "\\&",
  "#": "\\#",
  "%": "\\%",
  _: "\\_",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "<": "\\textless{}",
  ">": "\\textgreater{}",
  "|": "\\textbar{}",
  '"': "\\textquotedbl{}",
  "`": "\\textasciigrave{}",
  // after the end of a row, these would be taken for its arguments
  "[": "{[}",
  "]": "{]}",
  "*": "{*}",
  "±": "$\\pm$",
  "×": "$\\times$",
  "−": "$-$",
  "≤": "$\\leq$",
  "≥": "$\\geq$",
  "↑": "$\\uparrow$",
  "↓": "$\\downarrow$",
  "→": "$\\rightarrow$",
  "←": "$\\leftarrow$",
  "–": "\\textendash{}",
  "—": "\\textemdash{}",
  "…": "\\ldots{}",
  "†": "\\textdagger{}",
  "‘": "\\textquoteleft{}",
  "’": "\\textquoteright{}",
  "“": "\\textquotedblleft{}",
  "”": "\\textquotedblright{}",
};

/** Two of these in a row would become another sign. */
const pairing = /^[-',]$/;

/** What T1 and LaTeX's own tables of UTF-8 print as it is. */
const printable =
  /^[ !'()+,\-./0-9:;=?@A-Za-zÀ-ÖØ-öø-ÿĂăĄąĆćČčĎďĘęĚěĞğİıĹĺĽľŁłŃńŇňŐőŒœŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽž]$/;

/** `text` for pdfLaTeX with T1. What it has no sign for is named by code point: "[U+65E5 U+672C]". */
export function latexText(text: string): string {
  return escaped(plain(text));
}

/** The same, with decimal numbers set by siunitx. */
export function latexNumbers(text: string): string {
  return plain(text)
    .split(/(-?\d+\.\d+(?:e[+-]\d+)?)/)
    .map((part, index) => (index % 2 === 1 ? `\\num{${part}}` : escaped(part)))
    .join("");
}

function plain(text: string): string {
  return plainText(text.normalize("NFC"), textMax);
}

function escaped(text: string): string {
  const out: string[] = [];
  let foreign: string[] = [];
  let unbroken = 0;
  const flush = () => {
    if (foreign.length > 0) out.push(`{[}${foreign.join(" ")}{]}`);
    foreign = [];
  };
  let last = "";
  for (const character of text) {
    const found = Object.hasOwn(commands, character)
      ? commands[character]
      : printable.test(character)
        ? character
        : undefined;
    if (found === undefined) {
      last = character;
      foreign.push(`U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`);
      continue;
    }
    flush();
    if (character === last && pairing.test(character)) out.push("{}");
    last = character;
    out.push(found);
    unbroken = character === " " ? 0 : unbroken + 1;
    if (unbroken === unbrokenMax) {
      out.push("\\allowbreak{}");
      unbroken = 0;
    }
  }
  flush();
  return out.join("");
}
