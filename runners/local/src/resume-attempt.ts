// Tells an attempt that waits for a person to go on, with new values of its secrets: over its socket, from memory to
// memory. The socket's address goes through the open folder, since a path may be longer than an address may be.
import { once } from "node:events";
import { closeSync, constants, openSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import {
  type ResumeReply,
  type ResumeRequest,
  readResumeReply,
  resumeSocket,
} from "@mlrb/core/resume-request";

/** Never throws: an attempt that cannot be reached refuses. */
export async function resumeAttempt(folder: string, secrets: Record<string, string>): Promise<ResumeReply> {
  const asked: ResumeRequest = { formatVersion: 1, secrets };
  let handle: number | undefined;
  try {
    handle = openSync(join(folder, resumeSocket.folder), constants.O_RDONLY | constants.O_DIRECTORY);
    const socket = connect({ path: `/proc/self/fd/${handle}/${resumeSocket.name}` });
    socket.setTimeout(30_000, () => socket.destroy(new Error("it did not answer within 30 s")));
    await once(socket, "connect");
    socket.end(`${JSON.stringify(asked)}\n`);
    return readResumeReply(await text(socket)) ?? { kind: "refused", detail: "its answer makes no sense" };
  } catch (error) {
    return { kind: "refused", detail: `it cannot be reached: ${(error as Error).message}` };
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
