// Makes the text of a program's output that a model gets: readable characters, its beginning and its end. Pure.

/** Characters of one tool result. */
export const clipMax = 12_000;

/**
 * Bytes as a terminal shows them: invalid UTF-8 replaced, escape sequences and control characters removed, and of
 * a line that was rewritten (a progress bar) its last state.
 */
export function shownText(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return text
    .replace(escapes, "")
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => lastWritten(line).replace(controls, ""))
    .join("\n");
}

/** ECMA-48: control sequences, and strings such as a window's title, of bounded length. */
const escapes =
  /\u001b(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|[\]PX^_][^\u0007\u001b\n]{0,4096}(?:\u0007|\u001b\\)?|[ -/]{0,8}[0-~])/g;
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

function lastWritten(line: string): string {
  const parts = line.split("\r");
  return parts.findLast((part) => part !== "") ?? "";
}

/** The first or the last `max` characters of a text, cut at a line's end if one is near. */
function headOf(text: string, max: number): string {
  const line = text.lastIndexOf("\n", max - 1) + 1;
  return whole(text.slice(0, line > max / 2 ? line : max));
}

function tailOf(text: string, max: number): string {
  const from = text.length - max;
  const line = text.indexOf("\n", from) + 1;
  return whole(text.slice(line > 0 && line < from + max / 2 ? line : from));
}

/** Removes half of a surrogate pair at either end. */
const whole = (text: string) => text.replace(/^[\udc00-\udfff]/, "").replace(/[\ud800-\udbff]$/, "");

type Clipped = { text: string; clipped: boolean };

/** `head` and `tail` are one text without a `gap`. `note` replaces the text that is left out. */
export function clipText(
  { head, tail, gap }: { head: string; tail: string; gap: boolean },
  note: string,
  max: number = clipMax,
): Clipped {
  if (!gap && head.length <= max) return { text: head, clipped: false };
  const half = Math.floor(max / 2);
  const [first, last] = [headOf(head, half), tailOf(gap ? tail : head, half)];
  return { text: `${first}${first.endsWith("\n") ? "" : "\n"}[… ${note} …]\n${last}`, clipped: true };
}

/** `text` is there whole. */
export function clipWhole(text: string, note: string, max?: number): Clipped {
  return clipText({ head: text, tail: "", gap: false }, note, max);
}
