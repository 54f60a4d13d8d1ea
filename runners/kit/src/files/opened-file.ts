// Opens a file for as long as a block runs, by `using`. Node has this for promises only.
import { closeSync, openSync } from "node:fs";

export function openedFile(path: string, flags: string | number): Disposable & { descriptor: number } {
  const descriptor = openSync(path, flags);
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
}
