// Text from an agent or a submission (evidence, reasons, names in files) may try to move the cursor, recolour a
// verdict, reverse the reading order or flood the page. This makes one plain line of it.

const escapeSequence =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|\u001b[ -/]*[0-~]/g;

/**
 * `text` as one line without control, formatting or private characters, at most `charactersMax` code
 * points long; "…" marks a cut. Stacked accents are limited to two.
 */
export function plainText(text: string, charactersMax = 300): string {
  const line = text
    .slice(0, charactersMax * 20)
    .toWellFormed()
    .replace(escapeSequence, "")
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Zs}]+/gu, " ")
    .replace(/[\p{Cf}\p{Co}\p{Cn}]/gu, "")
    .replace(/(\p{M}{2})\p{M}+/gu, "$1")
    .replace(/ +/g, " ")
    .trim();
  const characters = [...line];
  const cut = characters.length > charactersMax || text.length > charactersMax * 20;
  return cut
    ? `${characters
        .slice(0, charactersMax - 1)
        .join("")
        .trimEnd()}…`
    : line;
}
