// Opens a file in whatever the user's desktop opens it with.
import { spawn } from "node:child_process";

const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: "open", win32: "explorer" };

/** An opener that has not failed by then shows the file, and goes on as long as it likes. */
const failsWithinMs = 3_000;

/** What is wrong; undefined where the file was opened as far as can be told. */
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
