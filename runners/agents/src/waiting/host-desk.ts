// The desk of an attempt whose step runs on a node of a cluster, on the host that submitted its job: new values of
// secrets stay here, and the step is only made to try again.
import { join } from "node:path";
import { goOnFile } from "@mlrb/core/ports/attempt-wait";
import { writeWhole } from "@mlrb/kit/json-file";
import { type DeskSocket, type DeskSocketOptions, openDesk } from "./desk-socket.ts";

export function deskOfHost(
  options: Omit<DeskSocketOptions, "resumeAll"> & {
    /** How many calls wait, as the step shows. */
    waiting(): number;
  },
): Promise<DeskSocket | undefined> {
  let resumed = 0;
  return openDesk({
    ...options,
    resumeAll() {
      writeWhole(join(options.folder, goOnFile), `${process.pid} ${++resumed} ${Date.now()}\n`);
      return options.waiting();
    },
  });
}
