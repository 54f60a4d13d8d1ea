// Any text as LaTeX that only prints it. Agents write titles, notes and evidence; a command that slipped through
// could read files or stop the author's paper from compiling.
import { plainText } from "../read/plain-text.ts";

/** Enough for the evidence of several rules. */
const textMax = 2000;

/** Longer words may be broken after each run of this many characters. */
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
  "‡": "\\textdaggerdbl{}",
  "§": "\\textsection{}",
  "¶": "\\P{}",
  "◊": "\\ensuremath{\\diamond}",
  "◇": "\\ensuremath{\\diamond}",
  "≈": "\\ensuremath{\\approx}",
  "⊕": "\\ensuremath{\\oplus}",
  "△": "\\ensuremath{\\triangle}",
  "‖": "\\ensuremath{\\Vert}",
  "‘": "\\textquoteleft{}",
  "’": "\\textquoteright{}",
  "“": "\\textquotedblleft{}",
  "”": "\\textquotedblright{}",
};

/** Two of these in a row would print as another character. */
const pairing = /^[-',]$/;

/** The characters that T1 with LaTeX's UTF-8 tables prints. */
const printable =
  /^[ !'()+,\-./0-9:;=?@A-Za-zÀ-ÖØ-öø-ÿĂăĄąĆćČčĎďĘęĚěĞğİıĹĺĽľŁłŃńŇňŐőŒœŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽž]$/;

/** `text` for pdfLaTeX with T1. Characters that T1 lacks are named by code point: "[U+65E5 U+672C]". */
export function latexText(text: string): string {
  return escaped(plain(text));
}

/** As latexText, with minus signs and powers of ten in formulas: without siunitx, which not every template has. */
export function latexPlainNumbers(text: string): string {
  return plain(text)
    .split(/((?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]\d+)?)/)
    .map((part, index) => {
      if (index % 2 === 0) return escaped(part);
      const [digits, power] = part
        .replace("-", (sign) => (part.startsWith("-") ? "\u2212" : sign))
        .split("e");
      const number = digits!.replace("\u2212", "$-$");
      return power === undefined ? number : `${number}$\\times10^{${Number(power)}}$`;
    })
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
    unbroken = character === " " || character === "-" ? 0 : unbroken + 1; // LaTeX breaks after a hyphen
    if (unbroken === unbrokenMax) {
      out.push("\\allowbreak{}");
      unbroken = 0;
    }
  }
  flush();
  return out.join("");
}
