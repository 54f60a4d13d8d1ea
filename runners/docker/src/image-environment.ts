// An image can hold the Python environment of a lock file. A container of such an image runs the stages of that
// lock with it, since the host's environment needs the host's interpreter and C library. Programs and variables
// name an environment by its path on the host: there, the container has a folder of links to the image's
// environment.
import { existsSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { HostEnvironment } from "@mlrb/core/ports/executor";
import type { Mount } from "./mount-flags.ts";

/** The label of an image with an environment. Its value is the SHA-256 of the lock file. */
export const lockLabel = "mlrb.lock";

/** Where such an image has the environment. Scripts may read everything in /usr. */
const place = "/usr/lib/mlrb/environment";

/** The entries of a virtual environment. The links of those that an image lacks lead nowhere. */
const entries = ["bin", "include", "lib", "lib64", "pyvenv.cfg", "share"];

/**
 * Read-only mounts of `reads`, among which is `environment` unless the stage builds it. `lock`: SHA-256 of the
 * lock file whose environment the image holds.
 */
export function readMounts(
  reads: readonly string[],
  environment: HostEnvironment | undefined,
  { lock }: { lock?: string },
): Mount[] {
  if (environment === undefined || environment.lock !== lock || !reads.includes(environment.path))
    return reads.map((source) => ({ source }));
  const { path, interpreter } = environment;
  const hidden = new Set([interpreter, existsSync(path) ? realpathSync(path) : path]);
  const others = reads.filter((one) => one !== path && !hidden.has(one));
  return [...others.map((source) => ({ source })), { source: linksBeside(path), target: path }];
}

/** The folder of links, next to the environment on the host. */
function linksBeside(path: string): string {
  const folder = `${path}.in-image`;
  mkdirSync(folder, { recursive: true });
  for (const name of entries)
    try {
      symlinkSync(join(place, name), join(folder, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  return folder;
}
