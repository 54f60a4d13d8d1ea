// Reads the header of a safetensors file without trusting it: a wrong length, offset or shape would otherwise reach a C++
// reader in the scorer. Tensors are read by ranges, never whole.
// Format: 8 bytes of length (little endian), that much JSON, then the tensors' bytes without gaps.

import { fstatSync, readSync } from "node:fs";
import { isTable } from "@mlrb/formats/is-table";
import { strictJson } from "../admission/admission-json.ts";
import { clip } from "../admission/clip.ts";
import { overLimit, readingLimits } from "../admission/reading-limits.ts";
import { openedFile } from "../files/opened-file.ts";

export type Tensor = {
  name: string;
  dtype: string;
  shape: number[];
  /** Number of values. */
  size: number;
  /** Byte range in the file. */
  begin: number;
  end: number;
};

export type Safetensors = { path: string; bytes: number; tensors: Tensor[] };

export type SafetensorsResult =
  | { kind: "ok"; file: Safetensors; headerBytes: number }
  | { kind: "malformed"; reason: string };

/** What the headers of the shards may still hold together. */
export type HeaderAllowance = { headerBytes: number; tensors: number };

const dtypes = [
  ...["BOOL", "U8", "I8", "F4", "F6_E2M3", "F6_E3M2", "F8_E5M2", "F8_E4M3", "F8_E8M0", "I16", "U16", "F16"],
  ...["BF16", "I32", "U32", "F32", "C64", "F64", "I64", "U64"],
];

/** Per value, as the name of the type says. Values of less than a byte are packed. */
const bitsOf = (dtype: string) => (dtype === "BOOL" ? 8 : Number(/\d+/.exec(dtype)));

const wholeAllowance: HeaderAllowance = {
  headerBytes: readingLimits.headersBytes.max,
  tensors: readingLimits.tensors.max,
};

/** Reads and checks the header. Never throws for the file's contents; the reason names the first problem. */
export function readSafetensors(path: string, left: HeaderAllowance = wholeAllowance): SafetensorsResult {
  try {
    using file = openedFile(path, "r");
    const bytes = fstatSync(file.descriptor).size;
    const header = readHeader(file.descriptor, bytes, left);
    if (typeof header === "string") return malformed(header);
    const { value, dataStart } = header;
    const tensors = checkHeader(value, { dataStart, bytes, tensorsMax: left.tensors });
    if (typeof tensors === "string") return malformed(tensors);
    return { kind: "ok", file: { path, bytes, tensors }, headerBytes: dataStart - 8 };
  } catch (error) {
    return malformed(`cannot be read: ${(error as NodeJS.ErrnoException).code ?? "unreadable"}`);
  }
}

function malformed(reason: string): SafetensorsResult {
  return { kind: "malformed", reason };
}

const headerLimits = { values: readingLimits.headerValues, depth: readingLimits.headerDepth };

function readHeader(
  file: number,
  bytes: number,
  left: HeaderAllowance,
): { value: unknown; dataStart: number } | string {
  if (bytes < 8) return `${bytes} bytes are too few for a safetensors file`;
  const prefix = Buffer.alloc(8);
  if (!readFully(file, prefix, 0)) return "ends within its first 8 bytes";
  const length = prefix.readBigUInt64LE();
  const { headerBytes, headersBytes } = readingLimits;
  if (length > BigInt(headerBytes.max)) return overLimit(headerBytes, length);
  if (Number(length) > left.headerBytes) return overLimit(headersBytes);
  const dataStart = 8 + Number(length);
  if (dataStart > bytes) return `names a header of ${length} bytes, but the file has only ${bytes}`;
  const header = Buffer.alloc(Number(length));
  if (!readFully(file, header, 8)) return "ends within its header";
  if (header[0] !== 0x7b) return "its header does not begin with {";
  const parsed = strictJson(header, headerLimits);
  return parsed.kind === "ok" ? { value: parsed.value, dataStart } : `its header is ${parsed.reason}`;
}

function checkHeader(
  header: unknown,
  { dataStart, bytes, tensorsMax }: { dataStart: number; bytes: number; tensorsMax: number },
): Tensor[] | string {
  if (!isTable(header)) return "its header is not an object";
  const names = Object.keys(header);
  const { tensors: tensorsLimit, tensorNameBytes } = readingLimits;
  if (names.length - (Object.hasOwn(header, "__metadata__") ? 1 : 0) > tensorsMax)
    return `${overLimit(tensorsLimit)}, in all shards together`;
  const tensors: Tensor[] = [];
  for (const name of names) {
    const entry = header[name];
    const nameBytes = Buffer.byteLength(name);
    if (nameBytes > tensorNameBytes.max)
      return `tensor ${clip(name)}: ${overLimit(tensorNameBytes, nameBytes)}`;
    if (name === "__metadata__") {
      if (!isTable(entry) || !Object.values(entry).every((value) => typeof value === "string"))
        return "its __metadata__ is not an object of texts";
      continue;
    }
    const tensor = checkTensor(name, entry);
    if (typeof tensor === "string") return `tensor ${clip(name)}: ${tensor}`;
    tensors.push(tensor);
  }
  tensors.sort((a, b) => a.begin - b.begin || a.end - b.end);
  let at = 0;
  for (const { name, begin, end } of tensors) {
    if (begin !== at)
      return `tensor ${clip(name)} begins at byte ${begin} of the data; expected ${at}, without gap or overlap`;
    at = end;
  }
  const length = bytes - dataStart;
  if (at > length) return `truncated: the tensors need ${at} bytes, the file holds ${length}`;
  if (at < length) return `${length - at} bytes follow the last tensor`;
  return tensors.map((tensor) => ({
    ...tensor,
    begin: tensor.begin + dataStart,
    end: tensor.end + dataStart,
  }));
}

function checkTensor(name: string, entry: unknown): Tensor | string {
  if (!isTable(entry)) return "its entry is not an object";
  const odd = Object.keys(entry).find((key) => !["dtype", "shape", "data_offsets"].includes(key));
  if (odd !== undefined) return `unknown key ${clip(odd)}`;
  const { dtype, shape, data_offsets: offsets } = entry;
  if (typeof dtype !== "string" || !dtypes.includes(dtype))
    return `unknown dtype ${clip(typeof dtype === "string" ? dtype : typeof dtype)}`;
  if (!Array.isArray(shape) || shape.length > 32 || !shape.every(isCount))
    return "its shape is not a list of at most 32 whole numbers";
  if (!Array.isArray(offsets) || offsets.length !== 2 || !offsets.every(isCount))
    return "its data_offsets are not two whole numbers";
  const [begin, end] = offsets as [number, number];
  const size = product(shape as number[]);
  if (size === undefined) return "its shape holds more values than a file can";
  const bits = BigInt(size) * BigInt(bitsOf(dtype));
  if (bits % 8n !== 0n) return "its values do not fill whole bytes";
  if (begin > end || BigInt(end - begin) !== bits / 8n)
    return `${end - begin} bytes do not hold ${size} values of ${dtype}`;
  return { name, dtype, shape: shape as number[], size, begin, end };
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0 && !Object.is(value, -0);
}

function product(shape: number[]): number | undefined {
  if (shape.includes(0)) return 0;
  let size = 1;
  for (const length of shape) {
    size *= length;
    if (!Number.isSafeInteger(size)) return undefined;
  }
  return size;
}

/** Fills `buffer` from `position`; false if the file ends before. */
export function readFully(file: number, buffer: Uint8Array, position: number): boolean {
  for (let at = 0; at < buffer.length; ) {
    const read = readSync(file, buffer, at, buffer.length - at, position + at);
    if (read === 0) return false;
    at += read;
  }
  return true;
}
