// Markup in which everything is escaped that was not written here: names, evidence and logs come from agents
// and must never become elements, attributes or scripts of the page.

const made = Symbol("made by html or trusted");

/** Markup that may stand in a page as it is. No JSON can look like it: its mark is a symbol. */
export type Html = { readonly [made]: true; readonly markup: string };

type Part = Html | string | number | undefined | false | readonly Part[];

/** A template whose texts are escaped; lists are joined, undefined and false are nothing. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  const out = [strings[0]!];
  for (const [at, part] of parts.entries()) out.push(escapedPart(part), strings[at + 1]!);
  return trusted(out.join(""));
}

/** For what this project wrote, or a drawing library that escapes what it is given. */
export function trusted(markup: string): Html {
  return { [made]: true, markup };
}

function escapedPart(part: Part): string {
  if (part === undefined || part === false) return "";
  if (isList(part)) return part.map(escapedPart).join("");
  return typeof part === "object" && made in part ? part.markup : escapeText(String(part));
}

function isList(part: Part): part is readonly Part[] {
  return Array.isArray(part);
}

/** For text and quoted attributes. Signs that are not seen, or turn the reading order round, are made visible. */
export function escapeText(text: string): string {
  return text
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu, (sign) => (/[\t\n]/.test(sign) ? sign : pictureOf(sign)));
}

function pictureOf(sign: string): string {
  const code = sign.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
}

/** An id that a link can name: other signs than letters, digits and `-` are spelled by their codes, so that no two meet. */
export function idOf(...parts: (string | number)[]): string {
  const plain = (part: string | number) =>
    String(part).replace(/[^A-Za-z0-9-]/gu, (sign) => `_${sign.codePointAt(0)!.toString(16)}_`);
  return parts.map(plain).join("__");
}
