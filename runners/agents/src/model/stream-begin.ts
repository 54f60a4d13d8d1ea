// Whether an answer begins as a stream of server-sent events. Servers send wrong content types in both directions,
// so the bytes decide: a stream begins with a field's name, a page with `<`, a JSON body with `{` or `[`. Pure.

/** `undecided`: more bytes are needed; at the end of the answer it means no stream. */
export function beginsAsStream(text: string): boolean | "undecided" {
  const begin = text.replace(/^\uFEFF/u, "").trimStart();
  if (/^(?:data|event|id|retry)? ?:/u.test(begin)) return true;
  const could = ["data:", "event:", "id:", "retry:"].some((field) => field.startsWith(begin));
  return could ? "undecided" : false;
}

/** A frame of AWS's binary event stream begins with its length, which is below 16 MiB: a zero byte, which no text has. */
export function beginsAsFrame(text: string): boolean | "undecided" {
  return text === "" ? "undecided" : text.startsWith("\0");
}

/** The beginning of a body on one line, for the detail of a failure. */
export function firstBytes(text: string): string {
  const line = text.replace(/\s+/gu, " ").trim();
  return line === "" ? "nothing" : JSON.stringify(line.slice(0, 200));
}
