// Finds the ends of JSON values in bytes without making them: a line of samples has a hundred bytes that the report does
// not use and must still check. Every text must end in a line feed, at which each function stops, so none tests for the
// end. What is odd and may still be JSON is −1 too; JSON.parse decides then.

const quote = 0x22;
const listEnd = 0x5d;
const objectEnd = 0x7d;
const backslash = 0x5c;
const depthMax = 8;

/** The place after the spaces at `at`. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let end = at;
  while (bytes[end] === 0x20 || bytes[end] === 0x0d || bytes[end] === 0x09) end++;
  return end;
}

/** The place after the value at `at`, or −1. */
export function skipValue(bytes: Uint8Array, at: number, depth = 0): number {
  const first = bytes[at]!;
  if (first === quote) return skipText(bytes, at);
  if (first === 0x2d || isDigit(first)) return skipNumber(bytes, at);
  const close = first === 0x5b ? listEnd : first === 0x7b ? objectEnd : undefined;
  if (close !== undefined) return depth < depthMax ? skipMembers(bytes, at, { close, depth: depth + 1 }) : -1;
  if (first === 0x74) return skipWord(bytes, at, "true");
  if (first === 0x66) return skipWord(bytes, at, "false");
  return first === 0x6e ? skipWord(bytes, at, "null") : -1;
}

/** The place after the text whose quote is at `at`, or −1. */
function skipText(bytes: Uint8Array, at: number): number {
  for (let end = at + 1; ; end++) {
    const byte = bytes[end]!;
    if (byte === quote) return end + 1;
    if (byte < 0x20) return -1;
    if (byte !== backslash) continue;
    end++;
    const escaped = bytes[end]!;
    if (escaped === 0x75) {
      for (let digit = 0; digit < 4; digit++) if (!isHex(bytes[++end]!)) return -1;
    } else if (!escapes.includes(escaped)) return -1;
  }
}

const escapes = Buffer.from('"\\/bfnrt');

/** The place after the number at `at`, or −1. */
function skipNumber(bytes: Uint8Array, at: number): number {
  let end = bytes[at] === 0x2d ? at + 1 : at;
  const whole = end;
  end = skipDigits(bytes, end);
  if (end === whole || (bytes[whole] === 0x30 && end > whole + 1)) return -1;
  if (bytes[end] === 0x2e) {
    const fraction = end + 1;
    end = skipDigits(bytes, fraction);
    if (end === fraction) return -1;
  }
  if (bytes[end] !== 0x65 && bytes[end] !== 0x45) return end;
  const sign = bytes[end + 1];
  const exponent = sign === 0x2b || sign === 0x2d ? end + 2 : end + 1;
  end = skipDigits(bytes, exponent);
  return end === exponent ? -1 : end;
}

function skipDigits(bytes: Uint8Array, at: number): number {
  let end = at;
  while (isDigit(bytes[end]!)) end++;
  return end;
}

/** A list or an object, by its closing bracket. */
function skipMembers(
  bytes: Uint8Array,
  at: number,
  { close, depth }: { close: number; depth: number },
): number {
  let end = skipSpace(bytes, at + 1);
  if (bytes[end] === close) return end + 1;
  for (;;) {
    if (close === objectEnd) end = skipName(bytes, end);
    if (end >= 0) end = skipValue(bytes, end, depth);
    if (end < 0) return -1;
    end = skipSpace(bytes, end);
    if (bytes[end] === close) return end + 1;
    if (bytes[end] !== 0x2c) return -1;
    end = skipSpace(bytes, end + 1);
  }
}

/** The place of the value after the name and colon at `at`, or −1. */
export function skipName(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== quote) return -1;
  const text = skipText(bytes, at);
  if (text < 0) return -1;
  const colon = skipSpace(bytes, text);
  return bytes[colon] === 0x3a ? skipSpace(bytes, colon + 1) : -1;
}

function skipWord(bytes: Uint8Array, at: number, word: string): number {
  for (let index = 0; index < word.length; index++)
    if (bytes[at + index] !== word.charCodeAt(index)) return -1;
  return at + word.length;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}
