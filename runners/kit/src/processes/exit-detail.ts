// Words how a program ended, the same for every executor, since causes reach reports.
import { constants as os } from "node:os";

/** For a status other than 0. Shells report a signal as a status above 128. */
export function exitDetail(code: number): string {
  const by = code > 128 && code < 160 ? signalName(code - 128) : undefined;
  return `exit status ${code}${by ? ` (${by})` : ""}`;
}

export function signalName(number: number): string | undefined {
  return Object.entries(os.signals).find(([, one]) => one === number)?.[0];
}
