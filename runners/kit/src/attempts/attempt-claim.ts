// Whether an attempt is still its supervisor's. With `--take-over` another host may continue an attempt whose first host
// was only cut off: from then on the first supervisor must send nothing and write nothing.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** In the attempt's folder: names the process that supervises it. */
export const claimFile = "supervisor.json";

/** Remembers the claim as it is now. The returned function says whether it is unchanged. */
export function heldClaim(folder: string): () => boolean {
  const own = claimIn(folder);
  return () => own === undefined || claimIn(folder, own) === own;
}

/** Undefined without a claim; `otherwise` after a temporary problem of a disk or a file server. */
function claimIn(folder: string, otherwise?: string): string | undefined {
  try {
    return readFileSync(join(folder, claimFile), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ESTALE" ? undefined : otherwise;
  }
}
