// Text that others wrote, fit for a terminal: what would steer it, hide text or turn the reading order is spelt out.
// Line ends and tabs stay.

const steering = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** `\r\n` and a lone `\r`, as progress bars write it, become line ends. A text's last `\r` may be half of one. */
export function terminalSafe(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(steering, (odd) =>
      odd === "\n" || odd === "\t" ? odd : `\\u{${odd.codePointAt(0)!.toString(16)}}`,
    );
}
