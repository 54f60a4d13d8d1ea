// The store: a large file and many small ones in and out, and many kept as an attempt's record.

import { hash, randomBytes } from "node:crypto";
import { copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AttemptRecord } from "@mlrb/formats/attempt/attempt-record";
import type { Artifact } from "@mlrb/formats/stage/artifact";
import { removeAttempt } from "@mlrb/local/attempts/remove-attempt";
import { hashFile } from "@mlrb/local/digests/hash-file";
import { AttemptRecords } from "@mlrb/local/records/attempt-records";
import { Store } from "@mlrb/local/store/artifact-store";
import { ingest, ingestAll } from "@mlrb/local/store/ingest";
import { materialize } from "@mlrb/local/store/materialize";
import { VerifiedContents } from "@mlrb/local/store/verified-contents";
import { median, medianSeconds, run as must, seconds, type TellRow } from "./bench-tools.ts";

type Bench = { work: string; row: TellRow };

export async function benchStore({ large, ...bench }: Bench & { large: boolean }): Promise<void> {
  await benchLargeFile(large ? 4096 : 1024, bench);
  await benchSmallFiles(large ? 20_000 : 4_000, bench);
}

/** One large file into the store and out again, against reading and hashing it. */
async function benchLargeFile(mebibytes: number, { work, row }: Bench): Promise<void> {
  const path = join(work, "large");
  const size = `${mebibytes / 1024} GiB`;
  must("sh", ["-c", `head -c ${mebibytes}M /dev/urandom > ${path}`]);
  const blobs = join(work, "blobs");
  mkdirSync(blobs);
  const store = new Store(blobs);
  const verified = new VerifiedContents(work);
  hashFile(path);
  const hashing = medianSeconds(3, () => hashFile(path));
  const against = `reading and hashing, ${hashing.toFixed(2)} s`;
  let artifact = await ingest(path, "file", { store, verified });
  const taking = await medianOf(3, async (round) => {
    const again = join(work, `large-${round}`);
    must("cp", [store.pathOf(artifact.digest), again]); // outside the time
    rmSync(store.pathOf(artifact.digest), { force: true });
    return async () => {
      artifact = await ingest(again, "file", { store, verified });
    };
  });
  row(`${size} into the store`, taking, { against, other: hashing, target: 1.2 });
  const out = (link: boolean) => (round: number) => async () => () =>
    materialize([{ artifact, path: join(work, `out-${link}-${round}`) }], {
      store,
      verified,
      link: async () => link,
    });
  const linking = await medianOf(3, (round) => out(true)(round)());
  row(`${size} out, linked`, linking, { against, other: hashing, target: 0.01 });
  const copying = await medianOf(1, (round) => out(false)(round)());
  row(`${size} out, copied`, copying, { against, other: hashing });
  for (const name of readdirSync(work)) if (/^(large|out)/.test(name)) rmSync(join(work, name));
}

/** What keeping an attempt of many files takes: in the store, in its record, on the disk. */
async function benchRecord(plain: string, n: string, { work, row }: Bench): Promise<void> {
  const copy = join(work, "attempts/running/one");
  mkdirSync(dirname(copy), { recursive: true });
  const copying = seconds(() => {
    must("cp", ["-r", plain, copy]);
    must("sync", ["-f", copy]);
  });
  const blobs = join(work, "record-blobs");
  mkdirSync(blobs);
  const verified = new VerifiedContents(work);
  const store = new Store(blobs);
  const records = new AttemptRecords(join(work, "attempts"), { store, verified });
  const begin = performance.now();
  const taken = await ingestAll(
    [{ name: "all", path: copy, kind: "dir" }],
    { store, verified },
    { keep: true },
  );
  if (!("outputs" in taken)) throw new Error(taken.problem);
  records.put(
    {
      formatVersion: 1,
      slot: { pipeline: "bench", profile: "default", stage: "attempt" },
      axes: {},
      attemptKey: "bench",
      parts: {} as AttemptRecord["parts"],
      given: [],
      outputs: { all: { ...taken.outputs.all!, file: "all" } },
      harness: {},
      cost: { gpuHours: 0, dollars: null },
      ran: {
        run: "bench",
        startedAt: new Date().toISOString(),
        durationMs: 0,
        executor: "local",
        host: "bench",
      },
    },
    join(work, "no-log"),
  );
  await removeAttempt(copy);
  const keeping = (performance.now() - begin) / 1000;
  const against = `cp -r and sync, ${copying.toFixed(2)} s`;
  row(`${n} files of 4 KiB kept as an attempt's record`, keeping, { against, other: copying, target: 5 });
}

/** Many small files into the store and out again, against hashing and renaming, and against copying them. */
async function benchSmallFiles(count: number, { work, row }: Bench): Promise<void> {
  const n = count.toLocaleString("en").replace(",", " ");
  const make = (folder: string) => {
    mkdirSync(folder);
    for (let index = 0; index < count; index++) writeFileSync(join(folder, String(index)), randomBytes(4096));
  };
  const plain = join(work, "plain");
  make(plain);
  const names = readdirSync(plain).map((name) => join(plain, name));
  const hashing = medianSeconds(3, () => {
    for (const path of names) hash("sha256", readFileSync(path));
  });
  const linked = join(work, "linked");
  mkdirSync(linked);
  const linking = seconds(() => {
    for (const [index, path] of names.entries()) linkSync(path, join(linked, String(index)));
  });
  const floor = hashing + linking;
  const blobs = join(work, "small-blobs");
  mkdirSync(blobs);
  const store = new Store(blobs);
  const verified = new VerifiedContents(work);
  const taken = join(work, "taken");
  make(taken);
  let artifact: Artifact | undefined;
  const begin = performance.now();
  artifact = await ingest(taken, "dir", { store, verified });
  const taking = (performance.now() - begin) / 1000;
  const inWords = `hashing and linking, ${floor.toFixed(2)} s`;
  row(`${n} files of 4 KiB into the store`, taking, { against: inWords, other: floor, target: 1.5 });
  await benchRecord(plain, n, { work, row });
  const copied = join(work, "copied");
  mkdirSync(copied);
  const copying = seconds(() => {
    for (const [index, path] of names.entries()) copyFileSync(path, join(copied, String(index)));
  });
  const out = await medianOf(
    1,
    async () => () =>
      materialize([{ artifact, path: join(work, "small-out") }], {
        store,
        verified,
        link: async () => false,
      }),
  );
  const outFloor = hashing + copying;
  row(`${n} files of 4 KiB out`, out, {
    against: `hashing and copying, ${outFloor.toFixed(2)} s`,
    other: outFloor,
    target: 1.5,
  });
}

/** `prepare` makes what is then timed. */
async function medianOf(
  times: number,
  prepare: (round: number) => Promise<() => Promise<unknown>>,
): Promise<number> {
  const all: number[] = [];
  for (let round = 0; round < times; round++) {
    const run = await prepare(round);
    const begin = performance.now();
    await run();
    all.push((performance.now() - begin) / 1000);
  }
  return median(all);
}
