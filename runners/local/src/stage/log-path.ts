// The path of a stage instance's log among the journals.
import { hash } from "node:crypto";
import { join } from "node:path";

/** The path of the log of an instance's last execution, in any pipeline. */
export function logPath(logs: string, id: string): string {
  const name = hash("sha256", id).slice(0, 16);
  return join(logs, `${id.replace(/\[.*$/, "")}-${name}.log`);
}
