/** With --json: one object on one line of stdout. */
export function printJson(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
