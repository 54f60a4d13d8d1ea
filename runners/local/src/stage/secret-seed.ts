// The seed of random choices that agents must not foresee, e.g. where a text is cut. It is made from a secret of
// the state folder and the action key, so that an action that runs again chooses the same, and no stage sees the
// secret itself.
import { createHmac, randomBytes } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readFrom } from "@mlrb/kit/files/read-from";
import { processName } from "@mlrb/kit/processes/process-name";
import { tryLink } from "../store/hard-link.ts";

const secretBytes = 32;

/** In hex. Draws the secret of the state folder if it has none. Throws if the secret is damaged. */
export function secretSeed(state: string, key: string): string {
  return createHmac("sha256", stateSecret(state)).update(`seed ${key}`).digest("hex");
}

function stateSecret(state: string): Buffer {
  const path = join(state, "secret");
  const secret = readFrom(path, 0) ?? drawSecret(path);
  if (secret.length === secretBytes) return secret;
  throw new Error(
    `${path} has ${secret.length} bytes, expected ${secretBytes}\n  help: remove it; a new secret is drawn, and no result becomes stale`,
  );
}

/** Several runs may draw at once: the first secret counts. No reader sees a part of one. */
function drawSecret(path: string): Buffer {
  const temporary = `${path}.${processName}.tmp`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, randomBytes(secretBytes), { flag: "wx", mode: 0o600, flush: true });
  try {
    if (!tryLink(temporary, path)) renameSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return readFileSync(path);
}
