// Rewrites what the images of images/ take from lock files: `requirements/`, which pip installs, and the label
// with the lock's digest. A test refuses images that differ from the locks. docs/machines.md
//   node scripts/update-images.ts
import { createHash } from "node:crypto";
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { lockLabel } from "@mlrb/docker/image-environment";
import { type Lock, pinText, readLock } from "../pipelines/steps/environment/lock-file.ts";
import { pipParts } from "../pipelines/steps/environment/pip-parts.ts";

const repository = join(import.meta.dirname, "..");

/** Of the wheels that some machines cannot run, an image on x86-64 with glibc 2.35 or newer takes these. */
const imageTags = ["py3-none-manylinux_2_35_x86_64"];

/** The text of each file in the folder of an image with the label, by path from the repository's root. */
export function imageFiles(root: string = repository): Record<string, string> {
  const text = (path: string) => readFileSync(join(root, path), "utf8");
  const [lock, cuda] = ["pipelines/environments/ml.lock", "images/cuda.lock"].map(text);
  const digest = createHash("sha256").update(lock!).digest("hex");
  const requirements = requirementFiles(lockOf(lock!), lockOf(cuda!));
  const files: Record<string, string> = {};
  for (const dockerfile of globSync("images/*/Dockerfile", { cwd: root }).sort()) {
    const now = text(dockerfile);
    const label = new RegExp(`^LABEL ${lockLabel}=.*$`, "m");
    if (!label.test(now)) continue; // an image without a Python environment
    files[dockerfile] = now.replace(label, `LABEL ${lockLabel}=${digest}`);
    for (const [name, content] of Object.entries(requirements))
      files[join(dirname(dockerfile), "requirements", name)] = content;
  }
  return files;
}

/** torch and its CUDA packages come from `cuda`, with hashes; every other pin from `lock`. */
export function requirementFiles(lock: Lock, cuda: Lock): Record<string, string> {
  const { wheels, sources, alone, unhashed, leftOut } = pipParts(lock, imageTags);
  if (leftOut.length > 0) throw new Error(`no image tag fits ${leftOut.map(({ name }) => name).join(", ")}`);
  const held = new Set(lock.pins.filter(({ hashes }) => hashes.length > 0).map(({ key }) => key));
  const added = cuda.pins.filter(({ key }) => !held.has(key));
  for (const line of unhashed.trim().split("\n"))
    if (!added.some((pin) => pinText({ ...pin, hashes: [] }) === line))
      throw new Error(`images/cuda.lock has no hashes of ${line}, which ml.lock names; edit images/cuda.in`);
  const pins = added.map((pin) => `${pinText(pin)}\n`).join("");
  return {
    "wheels.txt": wheels,
    "cuda.txt": pins,
    "sources.txt": sources,
    "alone.txt": alone,
    "warm.py": `${lock.warm.join("\n").replaceAll("; ", "\n")}\n`,
  };
}

function lockOf(text: string): Lock {
  const lock = readLock(text, "lock");
  if ("problems" in lock) throw new Error(lock.problems.join("\n"));
  return lock;
}

if (import.meta.main)
  for (const [path, text] of Object.entries(imageFiles())) {
    const file = join(repository, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
