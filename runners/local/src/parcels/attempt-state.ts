// The state of an attempt on the host that submitted its job: takes what a node without a shared disk sends before each
// model call. Nothing that is here is changed: append-only files only grow, and a node that says otherwise is refused.
import { hash } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { waitFile } from "@mlrb/core/ports/attempt-wait";
import { checkFormat } from "@mlrb/formats/read-format";
import {
  type AttemptOrders,
  type AttemptUpdate,
  attemptUpdate,
  checkpointParcel,
} from "@mlrb/formats/stage/attempt-state";
import { checkpointParcelFile } from "@mlrb/kit/attempts/checkpoint-parcel";
import { writeWhole } from "@mlrb/kit/json-file";
import { ifReadable } from "../store/if-readable.ts";
import { type AttemptFiles, logOf, ordered } from "./attempt-files.ts";

/** Takes an update and returns the orders for the node. Everything is on the disk by then. Throws with what is refused. */
export function takeUpdate(text: string, files: AttemptFiles): string {
  const reading = checkFormat(attemptUpdate, JSON.parse(text));
  if (reading.kind !== "ok") throw new Error(`an update of another version of mlrb: ${reading.cause}`);
  const { log, attachments, appended, whole } = reading.value as AttemptUpdate;
  for (const one of attachments) keepAttachment(one, files);
  for (const { file, from, lines } of appended) {
    if (!files.appended.includes(file)) throw new Error(`${file} is no append-only file of an attempt`);
    append(join(files.folder, file), from, Buffer.from(lines));
  }
  for (const { file, content } of whole) keepWhole(file, content, files);
  if (log !== "") appendFileSync(logOf(files), log);
  return JSON.stringify(ordersIn(files) satisfies AttemptOrders);
}

function ordersIn({ folder }: AttemptFiles): AttemptOrders {
  const content = (file: string) => ifReadable(() => readFileSync(join(folder, file), "utf8")) ?? null;
  return { formatVersion: 1, whole: ordered.map((file) => ({ file, content: content(file) })) };
}

type Attachment = AttemptUpdate["attachments"][number];

function keepAttachment({ name, content }: Attachment, { folder, attachments }: AttemptFiles): void {
  if (attachments === undefined || hash("sha256", content) !== name)
    throw new Error("an attachment that is not named by its digest");
  const path = join(folder, attachments, name);
  if (existsSync(path)) return;
  mkdirSync(join(folder, attachments), { recursive: true });
  writeWhole(path, content);
}

function keepWhole(file: string, content: string | null, { folder, whole }: AttemptFiles): void {
  if (!whole.includes(file)) throw new Error(`${file} is no file that a node writes`);
  const path = join(folder, file);
  if (content === null) {
    if (file === waitFile) rmSync(path, { force: true }); // a checkpoint is never taken back
    return;
  }
  if (file === checkpointParcelFile && checkFormat(checkpointParcel, JSON.parse(content)).kind !== "ok")
    throw new Error(`${file} does not name a checkpoint`);
  writeWhole(path, content);
}

/** What the file holds already must be equal, as after an answer that was lost on its way. A cut last line is replaced. */
function append(path: string, from: number, bytes: Buffer): void {
  if (bytes.at(-1) !== newline) throw new Error(`a line of ${path} that does not end`);
  const file = openSync(path, "a+");
  try {
    const { size } = fstatSync(file);
    if (from > size) throw new Error(`${path} has ${size} bytes here, and the node continues at ${from}`);
    const held = Buffer.alloc(size - from);
    readSync(file, held, 0, held.length, from);
    const common = Math.min(held.length, bytes.length);
    const isSame = held.subarray(0, common).equals(bytes.subarray(0, common));
    if (!isSame && held.includes(newline)) throw new Error(`${path} differs from the node's at byte ${from}`);
    const known = isSame ? held.length : 0;
    if (!isSame) ftruncateSync(file, from);
    for (let at = known; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

const newline = 10;
