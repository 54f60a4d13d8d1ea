// Images for Apptainer: an image by digest is converted once for all nodes that share the state folder, under a lease. The
// file has its name only once it is whole.
import { existsSync, mkdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseImageReference } from "@mlrb/core/spec/image-reference";
import { execa } from "execa";

/** A conversion downloads and packs gigabytes. */
const makingMs = 3_600_000;

export type SifOptions = {
  /** Apptainer. */
  program: string;
  /** The folder of converted images. */
  folder: string;
  /** After how long without a sign of life a lease is taken over, by this host's clock alone. */
  silentMs?: number;
};

/** The file of an image; undefined for this host's own programs. Throws for an image that is not named by digest. */
export function sifFile(image: string | undefined, folder: string): string | undefined {
  const reference = parseImageReference(image ?? "host");
  switch (reference.kind) {
    case "host":
      return undefined;
    case "digest":
      return join(folder, `${reference.digest.replace(":", "-")}.sif`);
    case "dockerfile":
      throw new Error(
        `image: apptainer builds no Dockerfile (${reference.file}); build and push the image, and name it by digest`,
      );
    case "refused":
      throw new Error(`image: ${reference.message}; ${reference.help}`);
  }
}

/** Converts the image unless its file is there, or waits for another job that does. Throws with the reason. */
export async function ensureSif(image: string, options: SifOptions): Promise<void> {
  const { program, folder, silentMs = 60_000 } = options;
  const file = sifFile(image, folder);
  if (file === undefined) return;
  mkdirSync(folder, { recursive: true });
  const lease = `${file}.lease`;
  const begin = performance.now();
  while (!existsSync(file)) {
    if (await taken(lease, silentMs)) {
      try {
        await convert(image, { program, file, lease, beatMs: silentMs / 12 });
      } finally {
        rmSync(lease, { recursive: true, force: true });
      }
    } else if (performance.now() - begin > makingMs)
      throw new Error(`image: ${image} is still being converted by another job (${lease})`);
  }
}

/** Whether this process holds the lease now. Otherwise returns when the lease is gone or is silent. */
async function taken(lease: string, silentMs: number): Promise<boolean> {
  try {
    mkdirSync(lease);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  let seen = signOf(lease);
  for (let since = performance.now(); seen !== undefined; ) {
    await sleep(Math.min(1_000, silentMs / 4));
    const now = signOf(lease);
    if (now !== seen) since = performance.now();
    else if (performance.now() - since > silentMs) {
      rmSync(lease, { recursive: true, force: true });
      return false;
    }
    seen = now;
  }
  return false;
}

function signOf(lease: string): number | undefined {
  return statSync(lease, { throwIfNoEntry: false })?.mtimeMs;
}

async function convert(
  image: string,
  { program, file, lease, beatMs }: { program: string; file: string; lease: string; beatMs: number },
): Promise<void> {
  const made = `${file}.${hostname()}-${process.pid}`;
  const heart = setInterval(() => {
    const now = new Date();
    if (existsSync(lease)) utimesSync(lease, now, now);
  }, beatMs);
  try {
    const { failed, stderr, originalMessage } = await execa(
      program,
      ["--quiet", "pull", "--force", made, `docker://${image}`],
      {
        ...{ reject: false, stdin: "ignore", timeout: makingMs },
        env: { HOME: userInfo().homedir }, // its credentials of registries
      },
    );
    if (failed)
      throw new Error(`image: ${image} could not be converted: ${stderr.trim() || originalMessage}`);
    renameSync(made, file);
  } finally {
    clearInterval(heart);
    rmSync(made, { force: true });
  }
}
