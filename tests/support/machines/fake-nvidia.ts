// A test double of nvidia-smi: it has no GPU and only prints a driver's answers. Tests that use it have "fake" in
// their titles; they test bookkeeping and nothing about CUDA.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type FakeGpu = {
  uuid: string;
  name: string;
  memoryMiB: number;
  /** Uncorrected memory errors, or the driver's text instead of a number. */
  errors: string;
  mig: string;
  /** Per cent, or the driver's text instead of a number. */
  utilization: string;
  memoryUsedMiB: number;
  slices: { profile: string; uuid: string }[];
};

export type FakeNvidia = {
  /** The folder with nvidia-smi, to put first on PATH. */
  bin: string;
  uuids: string[];
  /** Changes the answers. */
  set(gpus: FakeGpu[]): void;
  /** Sets the processes that compute on a device. */
  compute(...apps: { uuid: string; pid: number; name: string }[]): void;
  /** Makes later calls print `text` and exit with `status`. Status 0 restores the normal answers. */
  fail(text: string, status: number): void;
  /** The calls so far, one line each. */
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
    memoryUsedMiB: 4,
    slices: [],
    ...changed,
  }));
}

/** Makes the double in `folder`, where its answers are files. */
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
        [
          index,
          one.uuid,
          one.name,
          one.memoryMiB,
          one.errors,
          one.mig,
          "",
          one.utilization,
          one.memoryUsedMiB,
        ].join("|"),
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
    split("index uuid name memory.total ecc.errors.uncorrected.volatile.total mig.mode.current driver_version utilization.gpu memory.used", k, " ")
    for (i in k) at[k[i]] = i
    for (i = 1; i <= n; i++) if (!(w[i] in at)) { printf "Field \\"%s\\" is not a valid field to query.\\n", w[i]; exit 2 } }
    { $7 = "550.54.15"; for (i = 1; i <= n; i++) printf "%s%s", (i > 1 ? ", " : ""), $(at[w[i]]); print "" }' "$d/table" ;;
*) echo "NVIDIA-SMI 550.54.15 (test double: no GPU)" ;;
esac
`;
}
