// One line of samples, read from its bytes: where its names are, and its numbers. A line that is odd and may still be a
// sample is left to JSON.parse.
import { skipName, skipSpace, skipValue } from "./skip-json.ts";

/** A place and the place after it, without quotes; `at` is −1 where the line has none. */
type Span = { at: number; end: number };

export class SampleLine {
  readonly id: Span = { at: -1, end: -1 };
  readonly group: Span = { at: -1, end: -1 };
  readonly cluster: Span = { at: -1, end: -1 };
  value = Number.NaN;
  weight = Number.NaN;

  /** Reads the line at `at`; returns the place after its line feed, or −1. `bytes` must end in a line feed. */
  read(bytes: Buffer, at: number): number {
    this.id.at = this.group.at = this.cluster.at = -1;
    this.value = this.weight = Number.NaN;
    let end = skipSpace(bytes, at);
    if (bytes[end] !== 0x7b) return -1;
    do {
      const name = skipSpace(bytes, end + 1);
      const value = skipName(bytes, name);
      if (value < 0) return -1;
      end = skipValue(bytes, value);
      if (end < 0 || !this.#keep(bytes, name, { at: value, end })) return -1;
      end = skipSpace(bytes, end);
    } while (bytes[end] === 0x2c);
    if (bytes[end] !== 0x7d || this.id.at < 0) return -1;
    if (!Number.isFinite(this.value) || !Number.isFinite(this.weight) || this.weight < 0) return -1;
    end = skipSpace(bytes, end + 1);
    return bytes[end] === 0x0a ? end + 1 : -1;
  }

  /** False for a second value of one field, a value of another type, and names with escapes. */
  #keep(bytes: Buffer, name: number, found: Span): boolean {
    switch (bytes[name + 1]) {
      case 0x69:
        if (isName(bytes, name, '"id"')) return keepText(bytes, this.id, found);
        break;
      case 0x67:
        if (isName(bytes, name, '"group"')) return keepText(bytes, this.group, found);
        break;
      case 0x63:
        if (isName(bytes, name, '"cluster"')) return keepText(bytes, this.cluster, found);
        break;
      case 0x76:
        if (!isName(bytes, name, '"value"')) break;
        if (!Number.isNaN(this.value)) return false;
        this.value = numberIn(bytes, found);
        return !Number.isNaN(this.value);
      case 0x77:
        if (!isName(bytes, name, '"weight"')) break;
        if (!Number.isNaN(this.weight)) return false;
        this.weight = numberIn(bytes, found);
        return !Number.isNaN(this.weight);
    }
    for (let at = name + 1; bytes[at] !== 0x22; at++) if (bytes[at] === 0x5c) return false;
    return true;
  }
}

function isName(bytes: Buffer, at: number, name: string): boolean {
  for (let index = 0; index < name.length; index++)
    if (bytes[at + index] !== name.charCodeAt(index)) return false;
  return true;
}

function keepText(bytes: Buffer, span: Span, { at, end }: Span): boolean {
  if (span.at >= 0 || bytes[at] !== 0x22) return false;
  span.at = at + 1;
  span.end = end - 1;
  return true;
}

const digitsMax = 15;
const powers = Array.from({ length: digitsMax + 1 }, (_, power) => 10 ** power);

/**
 * The JSON number there as JSON.parse reads it; NaN for another value. Up to 15 digits and their power of ten are exact, so
 * one division rounds correctly (Clinger, How to read floating point numbers accurately, 1990).
 */
function numberIn(bytes: Buffer, { at, end }: Span): number {
  const isNegative = bytes[at] === 0x2d;
  const start = isNegative ? at + 1 : at;
  if (bytes[start]! < 0x30 || bytes[start]! > 0x39) return Number.NaN;
  if (end - start > digitsMax) return Number(bytes.toString("latin1", at, end));
  let digits = 0;
  let point = end - 1;
  for (let place = start; place < end; place++) {
    const byte = bytes[place]!;
    if (byte === 0x2e) point = place;
    else if (byte > 0x39 || byte < 0x30) return Number(bytes.toString("latin1", at, end));
    else digits = digits * 10 + byte - 0x30;
  }
  const magnitude = digits / powers[end - 1 - point]!;
  return isNegative ? -magnitude : magnitude;
}
