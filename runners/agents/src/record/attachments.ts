// Texts that are too long for a line of the trajectory, each in a file named by its digest. Each text is written
// once.
import { hash } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { LongText, TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { readBounded } from "@mlrb/kit/admission/admission-files";
import { readingLimits } from "@mlrb/kit/admission/reading-limits";
import { writeWhole } from "@mlrb/kit/json-file";

export type Attachments = ReturnType<typeof attachmentsIn>;

/** In characters: a line stays small enough to be read at a glance. */
export const inlineMax = 16_384;
const headChars = 2_000;
const fileMax = readingLimits.attachmentBytes.max;

/** Bytes of all attachments of an attempt. Later texts keep only their beginning. */
const allMax = 2 ** 30;

/** In `folder`, which is made with the first attachment. */
export function attachmentsIn(folder: string) {
  let written = 0;
  return {
    /** `text`, or its beginning and the digest of the attachment. */
    shorten(text: string): LongText {
      if (text.length <= inlineMax) return text;
      const bytes = Buffer.from(text);
      const digest = hash("sha256", bytes);
      const file = join(folder, digest);
      // an unpaired surrogate at the cut would not be text
      const head = text.slice(0, headChars).toWellFormed();
      if (!existsSync(file) && bytes.length <= fileMax && written + bytes.length <= allMax) {
        mkdirSync(folder, { recursive: true });
        writeWhole(file, text); // on the disk before the line that names it: a restart reads it
        written += bytes.length;
      }
      return { head, digest, bytes: bytes.length };
    },
  };
}

/** The whole text; only its beginning if the attachment is missing or changed. */
export function wholeText(text: LongText, folder: string | undefined): { text: string; whole: boolean } {
  if (typeof text === "string") return { text, whole: true };
  const beginning = { text: text.head, whole: false };
  if (folder === undefined || !/^[0-9a-f]{64}$/.test(text.digest)) return beginning;
  const bytes = readBounded(join(folder, text.digest), readingLimits.attachmentBytes);
  if (typeof bytes === "string" || hash("sha256", bytes) !== text.digest) return beginning;
  return { text: Buffer.from(bytes).toString(), whole: true };
}

/** The event with its long texts shortened. formats/attempt/trajectory declares which fields can be long. */
export function shortened(event: TrajectoryEvent, { shorten }: Attachments): TrajectoryEvent {
  const short = (text: LongText) => (typeof text === "string" ? shorten(text) : text);
  switch (event.event) {
    case "message":
    case "note":
    case "tool-result":
    case "request-part":
      return { ...event, text: short(event.text) };
    case "tool-call":
      return { ...event, input: short(event.input) };
    case "model-call":
      return {
        ...event,
        text: short(event.text),
        reasoning: event.reasoning === null ? null : short(event.reasoning),
        toolCalls: event.toolCalls.map((call) => ({ ...call, input: short(call.input) })),
        ...(event.raw !== undefined && { raw: short(event.raw) }),
      };
    default:
      return event;
  }
}
