// The folder of the state. A relative path starts at the folder where the command was typed, not where pnpm runs
// it.
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { ifReadable } from "@mlrb/local/store/if-readable";

export function rootFolder(repository: string, root: string | undefined): string {
  return root === undefined ? repository : resolve(typedIn(), root);
}

/** The folder in which the command was typed. */
export function typedIn(): string {
  const before = process.env.npm_lifecycle_event === "pipeline" ? process.env.INIT_CWD : undefined;
  return before ?? process.cwd();
}

/** False for a file. */
export function isEmptyFolder(path: string): boolean {
  return ifReadable(() => readdirSync(path).length === 0) ?? false;
}

/** Of a command that needs no plan. */
export type PlaceOptions = { root?: string; json: boolean };
