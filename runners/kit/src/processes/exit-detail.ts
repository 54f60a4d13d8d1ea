// The words for how a program ended, the same from every executor: causes reach reports.
import { constants as os } from "node:os";

/** Of a status other than 0; one above 128 is a shell's way to tell of a signal. */
export function exitDetail(code: number): string {
  const by =
    code > 128 && code < 160
      ? Object.entries(os.signals).find(([, number]) => number === code - 128)?.[0]
      : undefined;
  return `exit status ${code}${by ? ` (${by})` : ""}`;
}
