// A clock that is off, for programs of Debian's package faketime.
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "../processes.ts";

/**
 * Variables with which a program sees the time `by` away, e.g. `-1h`. Without the program `faketime`, which fails
 * where a killed process of its number left its shared memory; the library has the right time then, so what is
 * left is removed.
 */
export function wrongClock(by: string): Record<string, string> {
  const shared = "/dev/shm";
  for (const name of readdirSync(shared)) {
    const pid = Number(/faketime_\w+_(\d+)$/.exec(name)?.[1]);
    if (pid > 0 && !isRunning(pid)) rmSync(join(shared, name), { force: true });
  }
  return { LD_PRELOAD: "/usr/$LIB/faketime/libfaketime.so.1", FAKETIME: by };
}
