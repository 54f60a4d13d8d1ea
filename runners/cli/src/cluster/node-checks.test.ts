// What doctor says of a node, and what to ask the administrator.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SlurmNode } from "@mlrb/formats/stage/slurm-node";
import type { NodeNeeds } from "./jobs-alike.ts";
import { nodeChecks, type SubmitHost } from "./node-checks.ts";

const node: SlurmNode = {
  formatVersion: 1,
  host: "cpu-7",
  processor: "x64 AuthenticAMD avx2",
  python: "3.11.2",
  namespaces: { network: true, readOnly: true },
  walls: null,
  sandbox: null,
  temporaryBytes: 40 * 2 ** 30,
  gpus: ["Fake A100 (GPU-0)"],
  clockMs: 5_000,
};
const needs: NodeNeeds = {
  python: true,
  gpus: 1,
  offline: ["data"],
  walled: ["load"],
  contained: [],
  attempts: [],
  weakLimits: false,
};
const here: SubmitHost = {
  python: { path: "/usr/bin/python3", version: "3.11.2" },
  processor: "x64 AuthenticAMD avx2",
  clockMs: { from: 1_000, to: 9_000 },
};
const said = (changed: Partial<SlurmNode>, more: Partial<NodeNeeds> = {}) =>
  nodeChecks({ ...node, ...changed }, { ...needs, ...more }, here).map(
    ({ name, answer, found, help = "" }) => `${answer} ${name}: ${found}${help && `\n  ${help}`}`,
  );

test("a node that has all of it has nothing missing", () => {
  assert.deepEqual(said({}), [
    "works node's python: 3.11.2, /usr/bin/python3",
    "works node's processor: of the same class as here",
    "works node's network: can be removed from a stage",
    'works node\'s walls: for "load"',
    "note node's sandbox: bubblewrap; attempts run on this host",
    "works node's gpus: Fake A100 (GPU-0)",
    "works node's disk: 40.0 GiB free for temporary files",
  ]);
});

test("agents on nodes need bubblewrap, and stages with an image another executor", () => {
  const line = (sandbox: string | null) =>
    said({ sandbox }, { attempts: ["attempt"] }).find((one) => one.includes("sandbox:"))!;
  assert.equal(line(null), 'works node\'s sandbox: bubblewrap; for the agents of "attempt"');
  assert.match(
    line("no namespaces"),
    /^missing node's sandbox: none: no namespaces; for the agents of "attempt"\n {2}install bubblewrap .*conda install -c conda-forge bubblewrap.*ask the administrator/,
  );
  assert.equal(
    said({}, { contained: ["train"] }).find((one) => one.includes("containers:")),
    'missing node\'s containers: none for "train": no job runs in an image\n  or let them run on this host: stages: { …: { executor: docker } }',
  );
});

test("of a node that has nothing, each line says what to ask the administrator", () => {
  const bare: Partial<SlurmNode> = {
    processor: "x64 GenuineIntel avx512f",
    python: null,
    namespaces: { network: false, readOnly: false },
    walls: "no user namespaces",
    sandbox: "not installed",
    temporaryBytes: 2 ** 30,
    gpus: null,
    clockMs: 3_609_000,
  };
  const namespaces =
    "ask the administrator for user namespaces on the nodes (`unshare --user --net true` must work in a job; sysctl user.max_user_namespaces, on Debian kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0)";
  assert.deepEqual(said(bare), [
    "missing node's python: no Python at /usr/bin/python3\n  environments are used in place: ask the administrator for the same Python at /usr/bin/python3 on the nodes, or set MLRB_BASE_PYTHON to one on the shared disk",
    "note node's processor: x64 GenuineIntel avx512f; here x64 AuthenticAMD avx2\n  stages whose digits depend on it are refused there: choose nodes of this host's class with slurm: { constraint }, or submit from a host of theirs",
    `note node's network: cannot be removed from "data"\n  ${namespaces}`,
    `missing node's walls: none for "load": no user namespaces\n  ${namespaces}; or let them run on this host: stages: { …: { executor: local } }`,
    "note node's sandbox: none: not installed; attempts run on this host",
    "missing node's gpus: Slurm granted none (CUDA_VISIBLE_DEVICES)\n  set slurm: { gres } to the cluster's name of a GPU (sinfo --format=%G lists them); ask the administrator for nvidia-smi on the nodes",
    "note node's disk: 1.0 GiB free for temporary files\n  ask the administrator for a larger TMPDIR on the nodes; outputs go to the shared disk",
    "note node's clock: 1 h 0 m ahead of this host's\n  durations are right all the same; ask the administrator for NTP on the nodes",
  ]);
});

test("another version of Python, fewer GPUs than granted and a slow clock are named", () => {
  const lines = said({ python: "3.12.1", gpus: [], clockMs: -100_000 }).join("\n");
  assert.match(lines, /missing node's python: 3\.12\.1 at \/usr\/bin\/python3; here it is 3\.11\.2\n/);
  assert.match(lines, /missing node's gpus: 0 \(nvidia-smi -L\)\n/);
  assert.match(lines, /note node's clock: 1 m 41 s behind this host's\n/);
});

test("what no stage needs is not checked", () => {
  const text = said(
    { python: null, walls: "none", gpus: null },
    { python: false, gpus: 0, offline: [], walled: [], contained: [], attempts: [] },
  );
  assert.doesNotMatch(text.join("\n"), /missing|network|walls|containers|gpus|python/);
});
