// The messages on the socket of an attempt that waits for a person: one JSON line in each direction.

import {
  type ResumeReply,
  type ResumeRequest,
  resumeReply,
  resumeRequest,
} from "@mlrb/formats/attempt/resume-request";
import { readFormat } from "@mlrb/formats/read-format";

/** In the attempt's folder: a folder with mode 0700 that holds the socket, with mode 0600. */
export const resumeSocket = { folder: "resume", name: "sock" } as const;

/** A string is the reason for a refusal. It quotes nothing from the request, whose values are secrets. */
export function readResumeRequest(text: string): ResumeRequest | string {
  const reading = readFormat(resumeRequest, text);
  if (reading.kind === "ok") return reading.value;
  const { cause } = reading;
  if (cause.startsWith("not JSON")) return "the request is not JSON";
  if (cause.startsWith("secrets.")) return "a secret of the request is not text";
  if (cause.startsWith("secrets ")) return "the request holds no secrets";
  return "the request is of another format; this attempt reads format 1";
}

export function readResumeReply(text: string): ResumeReply | undefined {
  const reading = readFormat(resumeReply, text);
  return reading.kind === "ok" ? reading.value : undefined;
}
