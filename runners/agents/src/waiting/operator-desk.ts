// Where an attempt waits for a person: for its time, or until the person resumes it. The first wait opens the
// desk's socket. On a node of a cluster no person reaches a socket: there the host that submitted writes a file.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { goOnFile, pauseFile } from "@mlrb/core/ports/attempt-wait";
import { textOf } from "@mlrb/kit/processes/process-table";
import { type DeskSocket, type DeskSocketOptions, openDesk } from "./desk-socket.ts";
import { waitingRoom } from "./waiting-room.ts";

export type OperatorDesk = ReturnType<typeof operatorDesk>;

export type DeskOptions = Omit<DeskSocketOptions, "resumeAll"> & {
  /** Whether a person reaches the attempt only through the host that submitted its job. */
  remote?: boolean;
  setTimer?: (then: () => void, ms: number) => () => void;
};

export function operatorDesk({ setTimer, ...options }: DeskOptions) {
  const { folder } = options;
  const room = waitingRoom(setTimer);
  let open: Promise<DeskSocket | undefined> | undefined;
  const close = async () => {
    const opened = await open;
    open = undefined;
    await opened?.close();
  };
  return {
    /** Resolves after `ms`, or when a person resumes the attempt; rejects when `signal` is aborted. */
    async pause(ms: number, signal: AbortSignal): Promise<void> {
      signal.throwIfAborted();
      const waited = room.wait(ms, signal);
      const looks = options.remote ? watchGoOn(folder, room.wake) : undefined;
      if (!options.remote) open ??= openDesk({ ...options, resumeAll: room.wake });
      await waited.finally(() => clearInterval(looks));
    },
    /** Whether a person has asked the attempt to stop before its next call. */
    paused: () => existsSync(join(folder, pauseFile)),
    close,
  };
}

const lookMs = 1_000;

/** Calls `then` once the host that submitted has written its file again. */
function watchGoOn(folder: string, then: () => void): NodeJS.Timeout {
  const before = textOf(join(folder, goOnFile));
  return setInterval(() => {
    if (textOf(join(folder, goOnFile)) !== before) then();
  }, lookMs);
}
