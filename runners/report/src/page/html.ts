// Builds markup and escapes every text in it. Names, evidence and logs come from agents and must never become
// elements, attributes or scripts of the page.

const made = Symbol("made by html or trusted");

/** Markup that needs no escaping. JSON cannot forge it, because its mark is a symbol. */
export type Html = { readonly [made]: true; readonly markup: string };

type Part = Html | string | number | undefined | false | readonly Part[];

/** A template whose texts are escaped. Lists are joined; undefined and false are left out. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  const out = [strings[0]!];
  for (const [at, part] of parts.entries()) out.push(escapedPart(part), strings[at + 1]!);
  return trusted(out.join(""));
}

/** For markup of this project, or of a drawing library that escapes its input. */
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

/** For text and quoted attributes. Invisible characters and those that reverse the reading order become visible. */
export function escapeText(text: string): string {
  return text
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
    .replace(/[\p{Cc}\p{Cs}\p{Bidi_Control}]/gu, (sign) => (/[\t\n]/.test(sign) ? sign : pictureOf(sign)));
}

function pictureOf(sign: string): string {
  const code = sign.charCodeAt(0);
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : "\ufffd";
}

/** An id for links. Characters except letters, digits and `-` are spelled by their codes, so that ids stay distinct. */
export function idOf(...parts: (string | number)[]): string {
  const plain = (part: string | number) =>
    String(part).replace(/[^A-Za-z0-9-]/gu, (sign) => `_${sign.codePointAt(0)!.toString(16)}_`);
  return parts.map(plain).join("__");
}
