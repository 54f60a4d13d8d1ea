// What the plan, the repository's files and this host decide of a key: everything except inputs and services.
import type { BoundInputs } from "@mlrb/core/key/action-key";

export type Declared = Pick<BoundInputs, "code" | "files" | "host" | "image"> & {
  /** Digests of the script's source files, for reasons only. */
  codeFiles: Record<string, string>;
  /** `lock`: path of the environment's lock file, from the repository's root. */
  environment?: { key: string; path: string; lock: string };
};
