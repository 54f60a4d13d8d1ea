// Resumes an attempt that waits for a person, with new values of its secrets. The values go over a socket and
// never touch the disk. The socket is addressed through the open folder, since a path may be longer than an
// address.
import { once } from "node:events";
import { constants } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { readResumeReply, resumeSocket } from "@mlrb/core/ports/resume-request";
import type { ResumeReply, ResumeRequest } from "@mlrb/formats/attempt/resume-request";
import { openedFile } from "@mlrb/kit/files/opened-file";

/** Never throws: an unreachable attempt is a refusal. */
export async function resumeAttempt(folder: string, secrets: Record<string, string>): Promise<ResumeReply> {
  const asked: ResumeRequest = { formatVersion: 1, secrets };
  try {
    const socket = await connectAttempt(folder, resumeSocket);
    socket.setTimeout(30_000, () => socket.destroy(new Error("it did not answer within 30 s")));
    socket.end(`${JSON.stringify(asked)}\n`);
    const reply = readResumeReply(await text(socket));
    return reply ?? { kind: "refused", detail: "its answer does not follow the format" };
  } catch (error) {
    return { kind: "refused", detail: unreachableWords(error as NodeJS.ErrnoException) };
  }
}

/** A connection to the socket in `at` of an attempt's folder. Rejects if nothing listens there. */
export async function connectAttempt(folder: string, at: { folder: string; name: string }): Promise<Socket> {
  using held = openedFile(join(folder, at.folder), constants.O_RDONLY | constants.O_DIRECTORY);
  const socket = connect({ path: `/proc/self/fd/${held.descriptor}/${at.name}` });
  await once(socket, "connect");
  return socket;
}

function unreachableWords({ code, message }: NodeJS.ErrnoException): string {
  if (["ENOENT", "ENOTDIR", "ECONNREFUSED"].includes(code ?? ""))
    return "it does not listen: it goes on already, has ended, or runs on another host; `pnpm pipeline attempts list` shows which. It tries again by itself too";
  if (code === "EACCES" || code === "EPERM")
    return "it is another user's: only the user who began it can resume it";
  return `it cannot be reached: ${message}; try again, or \`pnpm pipeline attempts stop\` gives it up`;
}
