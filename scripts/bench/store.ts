// The store: a large file and many small files in and out, and many files kept as an attempt's record.

import { hash, randomBytes } from "node:crypto";
import { copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeAttempt } from "@mlrb/local/attempts/remove-attempt";
import { hashFile } from "@mlrb/local/digests/hash-file";
import { AttemptRecords } from "@mlrb/local/records/attempt-records";
import { keepRecord } from "@mlrb/local/records/keep-record";
import { Store } from "@mlrb/local/store/artifact-store";
import { ingest } from "@mlrb/local/store/ingest-outputs";
import { materialize } from "@mlrb/local/store/materialize-inputs";
import { VerifiedContents } from "@mlrb/local/store/verified-contents";
import { exampleCard, exampleEnd } from "@mlrb/local/testing/example-record";
import { type Bench, median, medianSeconds, run, seconds } from "./tools.ts";

export async function benchStore({ large, ...bench }: Bench & { large: boolean }): Promise<void> {
  await benchLargeFile(large ? 6144 : 1024, bench);
  await benchSmallFiles(large ? 20_000 : 4_000, bench);
}

/** An empty store in the folder `name`. */
function newStore(work: string, name: string) {
  const blobs = join(work, name);
  mkdirSync(blobs);
  return { store: new Store(blobs), verified: new VerifiedContents(work) };
}

/** One large file into the store and out again, against reading and hashing it. */
async function benchLargeFile(mebibytes: number, { work, row }: Bench): Promise<void> {
  const path = join(work, "large");
  const size = `${mebibytes / 1024} GiB`;
  run("sh", ["-c", `head -c ${mebibytes}M /dev/urandom > ${path}`]);
  const { store, verified } = newStore(work, "blobs");
  hashFile(path);
  const other = await medianSeconds(3, () => hashFile(path));
  const against = `reading and hashing, ${other.toFixed(2)} s`;
  const artifact = await ingest(path, "file", { store, verified });
  const taking: number[] = [];
  for (let round = 0; round < 3; round++) {
    const again = join(work, `large-${round}`);
    run("cp", [store.pathOf(artifact.digest), again]); // not timed
    run("sync", ["-f", again]); // or the disk writes it meanwhile
    rmSync(store.pathOf(artifact.digest), { force: true });
    taking.push(await seconds(() => ingest(again, "file", { store, verified })));
  }
  row(`${size} into the store`, median(taking), { against, other, target: 1.05 });
  const out = (name: string, link: boolean) =>
    materialize([{ artifact, path: join(work, `out-${name}`) }], { store, verified, link: async () => link });
  const linking = await medianSeconds(3, (round) => out(`linked-${round}`, true));
  row(`${size} out, linked`, linking, { against, other, target: 0.01 });
  row(`${size} out, copied`, await seconds(() => out("copied", false)), { against, other });
  for (const name of readdirSync(work)) if (/^(large|out)/.test(name)) rmSync(join(work, name));
}

/** The time to keep an attempt of many files: in the store, in its record, on the disk. */
async function benchRecord(plain: string, n: string, { work, row }: Bench): Promise<void> {
  const copy = join(work, "attempts/running/one");
  mkdirSync(join(copy, "out"), { recursive: true });
  const copying = await seconds(() => {
    run("cp", ["-r", plain, join(copy, "out/all")]);
    run("sync", ["-f", copy]);
  });
  const contents = newStore(work, "record-blobs");
  const keeping = await seconds(() => keepAsRecord(copy, work, contents));
  const against = `cp -r and sync, ${copying.toFixed(2)} s`;
  row(`${n} files of 4 KiB kept as an attempt's record`, keeping, { against, other: copying, target: 5 });
}

async function keepAsRecord(
  copy: string,
  work: string,
  contents: ReturnType<typeof newStore>,
): Promise<void> {
  const card = { ...exampleCard, gives: [{ name: "all", kind: "dir" as const, file: "all" }] };
  const attempts = new AttemptRecords(join(work, "attempts"), contents);
  const ended = { path: copy, card, end: exampleEnd, log: join(work, "no-log"), isHeld: () => true };
  const kept = await keepRecord(ended, { ...contents, attempts });
  if (kept.kind === "failed") throw new Error(kept.detail);
  await removeAttempt(copy);
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
  const hashing = await medianSeconds(3, () => {
    for (const path of names) hash("sha256", readFileSync(path));
  });
  const each = (act: typeof linkSync, name: string) => {
    const folder = join(work, name);
    mkdirSync(folder);
    return seconds(() => {
      for (const [index, path] of names.entries()) act(path, join(folder, String(index)));
    });
  };
  const least = hashing + (await each(linkSync, "linked"));
  const { store, verified } = newStore(work, "small-blobs");
  const taken = join(work, "taken");
  make(taken);
  const begin = performance.now();
  const artifact = await ingest(taken, "dir", { store, verified });
  const taking = (performance.now() - begin) / 1000;
  const against = `hashing and linking, ${least.toFixed(2)} s`;
  row(`${n} files of 4 KiB into the store`, taking, { against, other: least, target: 1.3 });
  await benchRecord(plain, n, { work, row });
  const leastOut = hashing + (await each(copyFileSync, "copied"));
  const small = [{ artifact, path: join(work, "small-out") }];
  const out = await seconds(() => materialize(small, { store, verified, link: async () => false }));
  const copying = `hashing and copying, ${leastOut.toFixed(2)} s`;
  row(`${n} files of 4 KiB out`, out, { against: copying, other: leastOut, target: 1.5 });
}
