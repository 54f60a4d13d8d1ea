// A text as it looks, to find names in it: Latin letters in place of those that look like them, plain spaces and
// hyphens, and one mark in place of what is not seen.

/** In place of what is not seen: signs that join letters, marks over them, colours of a terminal. */
export const unseen = "\u200b";

/** Those that Unicode does not decompose as it does wide, bold and circled ones. */
const alike = new Map(
  "aаαɑᴀ bвβьʙ cсςᴄ dԁᴅđ eеєεᴇ fғꜰ gԍɡɢ hһнʜ iіιıɪ jјʝᴊ kкκᴋ lӏłʟ mмμᴍ nпηɴ oоοօøᴏ pрρᴘ qԛǫ rгʀ sѕꜱ tтτᴛ uυսᴜ vѵνᴠ wԝωᴡ xхχ yуγʏ zᴢ"
    .split(" ")
    .flatMap(([letter, ...odd]) => odd.map((one) => [one, letter!] as const)),
);

const colour = String.raw`(?:\\u\{1b\}|\\u001b|\\x1b|\\033|\\e)\[[\d;]*[a-z]`;
const escaped = String.raw`\\u\{[\da-f]{1,6}\}|\\u[\da-f]{4}|\\x[\da-f]{2}`;
const piece = new RegExp(`${colour}|${escaped}|[^]`, "giu");

/** `text` has one character for each of the pieces, which together are the given text. */
export function foldedText(given: string): { text: string; pieces: string[] } {
  const pieces = given.match(piece) ?? [];
  return { pieces, text: pieces.map((one) => (/^[\0-\x7f]$/.test(one) ? one : seenAs(one))).join("") };
}

function seenAs(odd: string): string {
  const code = odd.includes("[") ? 0 : Number.parseInt(/[\da-f]{2,}/i.exec(odd)?.[0] ?? "0", 16);
  const character = odd[0] === "\\" ? String.fromCodePoint(Math.min(code, 0x10ffff)) : odd;
  const plain = character
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\p{M}\p{C}\p{Default_Ignorable_Code_Point}]/gu, "")
    .replace(/\p{Pd}/gu, "-")
    .replace(/\p{Z}/gu, " ");
  const [first = unseen] = plain;
  return alike.get(first) ?? first.slice(0, 1);
}
