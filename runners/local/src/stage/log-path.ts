// Where the log of a stage instance lies among the journals.
import { createHash } from "node:crypto";
import { join } from "node:path";

/** Where the log of an instance's last execution lies, whatever pipeline ran it. */
export function logPath(logs: string, id: string): string {
  const name = createHash("sha256").update(id).digest("hex").slice(0, 16);
  return join(logs, `${id.replace(/\[.*$/, "")}-${name}.log`);
}
