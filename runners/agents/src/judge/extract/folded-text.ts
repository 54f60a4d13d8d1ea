// A text as it looks, to find names in it: Latin letters in place of those that look like them, plain spaces and
// hyphens, and one mark in place of what is not seen. Its parts are found again in the text.

/** In place of what is not seen: signs that join letters, marks over them, colours of a terminal. */
export const unseen = "\u200b";

/** Those that Unicode does not decompose as it does wide, bold and circled ones. */
const alike = new Map(
  "aаαɑᴀ bвβьʙ cсςᴄ dԁᴅđ eеєεᴇ fғꜰ gԍɡɢ hһнʜ iіιıɪ jјʝᴊ kкκᴋ lӏłʟ mмμᴍ nпηɴ oоοօøᴏ pрρᴘ qԛǫ rгʀ sѕꜱ tтτᴛ uυսᴜ vѵνᴠ wԝωᴡ xхχ yуγʏ zᴢ"
    .split(" ")
    .flatMap(([letter, ...odd]) => odd.map((one) => [one, letter!] as const)),
);

const colour = String.raw`(?:\\u\{1b\}|\\u001b|\\x1b|\\033|\\e)\[[\d;]*[a-z]`;
const escaped = String.raw`\\u\{([\da-f]{1,6})\}|\\u([\da-f]{4})|\\x([\da-f]{2})`;
const odd = new RegExp(`${colour}|${escaped}|[^\\0-\\x7f]`, "giu");

/** `originOf`: where a part of the folded text is in `text`, from its start to its end. */
export function foldedText(text: string): {
  text: string;
  originOf(from: number, to: number): [from: number, to: number];
} {
  if (text.search(odd) < 0) return { text, originOf: (from, to) => [from, to] };
  let [folded, last] = ["", 0];
  /** Of each character of `folded`. */
  const origins: [from: number, to: number][] = [];
  const keep = (end: number) => {
    folded += text.slice(last, end);
    for (; last < end; last++) origins.push([last, last + 1]);
  };
  for (const { 0: whole, 1: a, 2: b, 3: c, index } of text.matchAll(odd)) {
    keep(index);
    last += whole.length;
    const code = Number.parseInt(a ?? b ?? c ?? "1b", 16);
    const seen = seenAs(whole[0] === "\\" ? String.fromCodePoint(Math.min(code, 0x10ffff)) : whole);
    folded += seen;
    for (let at = 0; at < seen.length; at++) origins.push([index, last]);
  }
  keep(text.length);
  return { text: folded, originOf: (from, to) => [origins[from]![0], origins[to - 1]![1]] };
}

function seenAs(character: string): string {
  const plain = character
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[\p{M}\p{C}\p{Default_Ignorable_Code_Point}]/gu, "");
  const seen = [...plain].map((one) => alike.get(one) ?? one.replace(/\p{Pd}/u, "-").replace(/\p{Z}/u, " "));
  return seen.join("") || unseen;
}
