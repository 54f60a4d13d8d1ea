// Opens a file with the desktop's default program.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: "open", win32: "explorer" };

/** An opener that has not failed within this time counts as successful, and may keep running. */
const failsWithinMs = 3_000;

/** The problem; undefined if the file was probably opened. */
export function openFile(path: string): Promise<string | undefined> {
  const opener = openers[process.platform] ?? "xdg-open";
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const child = spawn(opener, [path], { stdio: "ignore", detached: true });
  const timer = setTimeout(() => resolve(undefined), failsWithinMs);
  child.on("error", ({ message }) => resolve(`${opener} cannot be started: ${message}`));
  child.on("exit", (code) => resolve(code === 0 ? undefined : `${opener} ended with ${code ?? "a signal"}`));
  return promise.finally(() => {
    clearTimeout(timer);
    child.unref();
  });
}

export type OpenedAddress = {
  /** Undefined if the address was probably opened. */
  problem: string | undefined;
  /** Removes the file that leads to the address. */
  remove: () => void;
};

/**
 * Opens a secret address by a file that leads to it and that only this user can read: every user of a machine can read
 * the arguments of its programs.
 */
export async function openAddress(address: string): Promise<OpenedAddress> {
  let folder: string | undefined;
  const remove = () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  try {
    folder = mkdtempSync(join(tmpdir(), "mlrb-page-"));
    const path = join(folder, "page.html");
    const lead = `<!doctype html>\n<meta charset="utf-8">\n<meta http-equiv="refresh" content="0; url=${address}">\n<a href="${address}">the page</a>\n`;
    writeFileSync(path, lead, { mode: 0o600, flag: "wx" });
    return { problem: await openFile(path), remove };
  } catch (error) {
    return { problem: (error as Error).message, remove };
  }
}
