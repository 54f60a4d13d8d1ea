// Opens a file with the desktop's default program.
import { spawn } from "node:child_process";

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
