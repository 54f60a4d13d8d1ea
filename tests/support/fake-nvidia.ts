// A test double of nvidia-smi: it gives no GPU, only what a driver says of some. Tests that use it
// say "fake" in their titles; they prove bookkeeping and nothing about CUDA.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type FakeGpu = {
  uuid: string;
  name: string;
  memoryMiB: number;
  /** Uncorrected memory errors, or what the driver says in their place. */
  errors: string;
  mig: string;
  /** Per cent, or what the driver says in its place. */
  utilization: string;
  slices: { profile: string; uuid: string }[];
};

export type FakeNvidia = {
  /** To be put first on PATH: it holds nvidia-smi. */
  bin: string;
  uuids: string[];
  /** Says something else from now on. */
  set(gpus: FakeGpu[]): void;
  /** Processes that compute on a device; none when called without. */
  compute(...apps: { uuid: string; pid: number; name: string }[]): void;
  /** Makes each further call print `text` and end with `status`; status 0 makes it well again. */
  fail(text: string, status: number): void;
  /** What was asked so far, one line a call. */
  asked(): string[];
};

export function fakeGpus(count: number, changed: Partial<FakeGpu> = {}): FakeGpu[] {
  return Array.from({ length: count }, (_, index) => ({
    uuid: `GPU-${String(index).repeat(8)}-0000-4000-8000-${String(index).padStart(12, "0")}`,
    name: "Fake A100-SXM4-80GB",
    memoryMiB: 81920,
    errors: "0",
    mig: "Disabled",
    utilization: "0",
    slices: [],
    ...changed,
  }));
}

/** Lies in `folder`, where everything it says may be edited by hand. */
export function fakeNvidia(folder: string, gpus: FakeGpu[] = fakeGpus(4)): FakeNvidia {
  const bin = join(folder, "bin");
  const file = (name: string) => join(folder, name);
  const asked = file("asked");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "nvidia-smi"), smi(folder), { mode: 0o755 });
  const fake: FakeNvidia = {
    bin,
    uuids: gpus.map(({ uuid }) => uuid),
    set(now) {
      const listed = now.flatMap(({ uuid, name, slices }, index) => [
        `GPU ${index}: ${name} (UUID: ${uuid})`,
        ...slices.map((one, at) => `  MIG ${one.profile}     Device  ${at}: (UUID: ${one.uuid})`),
      ]);
      const table = now.map((one, index) =>
        [index, one.uuid, one.name, one.memoryMiB, one.errors, one.mig, "", one.utilization].join("|"),
      );
      writeFileSync(file("listed"), `${listed.join("\n")}\n`);
      writeFileSync(file("table"), `${table.join("\n")}\n`);
    },
    compute(...apps) {
      const lines = apps.map(({ uuid, pid, name }) => `${uuid}, ${pid}, ${name}\n`);
      writeFileSync(file("apps"), lines.join(""));
    },
    fail(text, status) {
      writeFileSync(file("failure"), status === 0 ? "" : `${status}\n${text}\n`);
    },
    asked: () => (existsSync(asked) ? readFileSync(asked, "utf8").split("\n").filter(Boolean) : []),
  };
  fake.set(gpus);
  fake.compute();
  fake.fail("", 0);
  return fake;
}

function smi(folder: string): string {
  return `#!/bin/sh
d='${folder}'
echo "$*" >> "$d/asked"
if [ -s "$d/failure" ]; then tail -n +2 "$d/failure"; exit "$(head -n 1 "$d/failure")"; fi
case $1 in
-L) cat "$d/listed" ;;
--query-compute-apps=gpu_uuid,pid,process_name) cat "$d/apps" ;;
--query-gpu=*)
  awk -F'|' -v want="\${1#*=}" 'BEGIN { n = split(want, w, ",")
    split("index uuid name memory.total ecc.errors.uncorrected.volatile.total mig.mode.current driver_version utilization.gpu", k, " ")
    for (i in k) at[k[i]] = i
    for (i = 1; i <= n; i++) if (!(w[i] in at)) { printf "Field \\"%s\\" is not a valid field to query.\\n", w[i]; exit 2 } }
    { $7 = "550.54.15"; for (i = 1; i <= n; i++) printf "%s%s", (i > 1 ? ", " : ""), $(at[w[i]]); print "" }' "$d/table" ;;
*) echo "NVIDIA-SMI 550.54.15 (test double: no GPU)" ;;
esac
`;
}
