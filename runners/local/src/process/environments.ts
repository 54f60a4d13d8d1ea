// Python environments. Their identity is their key (lock file, interpreter, platform). They stay in place because
// a venv holds its own path, and never enter the store.
import { hash } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, writeJson } from "@mlrb/kit/json-file";
import type { FileDigests } from "../digests/file-digest-memory.ts";
import type { StateFolder } from "../store/state-folder.ts";
import { findPython } from "./find-python.ts";

/** The key of the environment that `lock` describes on this machine. */
export function environmentKey(lock: string, context: { state: StateFolder; digests: FileDigests }): string {
  const python = findPython(context.state.memory);
  const parts = {
    formatVersion: 1,
    lock: context.digests.of(lock),
    python: python?.version ?? "missing",
    platform: process.platform,
    arch: process.arch,
  };
  return hash("sha256", canonicalJson(parts));
}

export function environmentPath(state: StateFolder, key: string): string {
  return join(state.environments, key.slice(0, 24));
}

/** The path of the environment's Python, whether the environment is built or not. */
export function environmentPython(path: string): string {
  return join(path, "bin", "python");
}

/** Whether the build has finished: the mark is written last. */
export function environmentReady(path: string): boolean {
  return existsSync(join(path, "ready.json")) && existsSync(environmentPython(path));
}

/** Removes the files of a killed build. */
export function clearEnvironment(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

export function markReady(path: string, key: string): void {
  writeJson(join(path, "ready.json"), { formatVersion: 1, key });
}
