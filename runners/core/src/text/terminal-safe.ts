// Makes foreign text safe for a terminal: characters that control it, hide text or change the reading order are
// spelt out. Line ends and tabs stay.

const steering = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** `\r\n` and a lone `\r`, as progress bars write it, become line ends. A final `\r` may be half of a `\r\n`. */
export function terminalSafe(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(steering, (odd) =>
      odd === "\n" || odd === "\t" ? odd : `\\u{${odd.codePointAt(0)!.toString(16)}}`,
    );
}
