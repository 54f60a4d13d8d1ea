// What commands print: texts of a line each, or with --json objects of a line each.

/** One plain line of a text that may contain a stage's output, without control characters or line breaks. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
}

export function printLine(text: string): void {
  process.stdout.write(`${oneLine(text)}\n`);
}

/** With --json: one object on one line of stdout. */
export function printJson(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
