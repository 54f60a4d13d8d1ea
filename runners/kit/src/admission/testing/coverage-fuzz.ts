// Coverage-guided fuzzing over the inspector of Node: an input that takes a new path through a function is kept
// and changed further. Written here because the native program of @jazzer.js/core 4.0.0 needs glibc 2.38, which
// Debian 12 lacks.
import { Session } from "node:inspector";

export type FuzzOptions = {
  /** Equal seeds make equal inputs. */
  seed: number;
  runs: number;
  /** Honest inputs, from which all others are made. */
  honest: Uint8Array[];
  /** Pieces that are inserted: the words of the format. */
  words: string[];
  /** Answers an input, always the same; throws if it breaks a promise. */
  target: (bytes: Uint8Array) => string | Promise<string>;
  /** Part of the URL of the scripts whose blocks count. */
  watched: string;
};

/** Rejects for the first input that `target` throws for or answers differently twice; the input is in the message. */
export async function coverageFuzz(options: FuzzOptions): Promise<{ kept: number; paths: number }> {
  const { seed, runs, honest, words, target, watched } = options;
  const random = randomOf(seed);
  const coverage = new BlockCoverage(watched);
  const corpus: Uint8Array[] = [];
  for (let run = 0; run < runs; run++) {
    const input = honest[run] ?? mutant(corpus, words, random);
    try {
      const answer = await target(input);
      const again = await target(input);
      if (answer !== again) throw new Error(`answers ${answer}, then ${again}`);
    } catch (error) {
      const input64 = Buffer.from(input).toString("base64");
      throw new Error(`seed ${seed}, run ${run}: ${(error as Error).stack}\ninput in base64: ${input64}`);
    }
    if (coverage.reachedNew() || run < honest.length) corpus.push(input);
  }
  return { kept: corpus.length, paths: coverage.size };
}

// Started with this module and never stopped: V8 counts the blocks of functions that it compiles from then on.
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

class BlockCoverage {
  readonly #seen = new Set<string>();
  readonly #watched: string;

  constructor(watched: string) {
    this.#watched = watched;
  }

  get size(): number {
    return this.#seen.size;
  }

  /** Whether a function ran since the last call through blocks that never ran together before. */
  reachedNew(): boolean {
    const before = this.#seen.size;
    session.post("Profiler.takePreciseCoverage", (_, { result }) => {
      for (const { url, functions } of result) {
        if (!url.includes(this.#watched)) continue;
        // V8 leaves out ranges that ran as often as the range around them, so all ranges of a function are one
        // fact
        for (const { ranges } of functions)
          if (ranges[0]!.count > 0)
            this.#seen.add(
              `${url} ${ranges.map((range) => `${range.startOffset}-${range.endOffset}:${range.count > 0}`)}`,
            );
      }
    });
    return this.#seen.size > before;
  }
}

type Random = (below: number) => number;

/** Mulberry32. */
function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const bytesMax = 16_384;

function mutant(corpus: Uint8Array[], words: string[], random: Random): Uint8Array {
  let bytes = Buffer.from(corpus[random(corpus.length)]!);
  for (let changes = 1 + random(4); changes > 0; changes--) {
    const at = random(bytes.length + 1);
    const end = Math.min(bytes.length, at + random(16));
    const other = corpus[random(corpus.length)]!;
    const replaced = [
      () => bytes.subarray(at, end).map((byte) => byte ^ (1 << random(8))),
      () => Buffer.of(random(256)),
      () => Buffer.alloc(0),
      () => Buffer.concat([bytes.subarray(at, end), bytes.subarray(at, end)]),
      () => Buffer.from(words[random(words.length)]!),
      () => other.subarray(random(other.length), random(other.length + 1)),
    ][random(6)]!();
    bytes = Buffer.concat([bytes.subarray(0, at), replaced, bytes.subarray(end)]).subarray(0, bytesMax);
  }
  return bytes;
}
