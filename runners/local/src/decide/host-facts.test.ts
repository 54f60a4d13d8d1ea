import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Host,
  hostFacts,
  hostFactsOf,
  hostKind,
  processorClass,
  processorClassOf,
} from "./host-facts.ts";

const host: Host = {
  platform: "linux",
  arch: "x64",
  models: ["AMD EPYC 7763  64-Core Processor ", "AMD EPYC 7763 64-Core Processor"],
  cpus: 16,
  memoryBytes: 64 * 2 ** 30 - 1,
  gpus: [],
};

test("a host is described by its CPU model, CPU count and memory in whole GiB", () => {
  assert.deepEqual(hostFactsOf(host), {
    platform: "linux",
    arch: "x64",
    cpu: "AMD EPYC 7763 64-Core Processor",
    cpus: "16",
    memoryGiB: "63",
  });
});

test("a host with GPUs lists them in its facts, independent of their order", () => {
  const gpus = ["NVIDIA H100", "NVIDIA A100", "NVIDIA  H100"];
  assert.equal(hostFactsOf({ ...host, gpus }).gpus, "1 × NVIDIA A100, 2 × NVIDIA H100");
  assert.deepEqual(hostFactsOf({ ...host, gpus: gpus.reverse() }), hostFactsOf({ ...host, gpus }));
});

test("a change of any host fact makes another host, but memory that the kernel reserves does not", () => {
  const others: Partial<Host>[] = [
    { platform: "darwin" },
    { arch: "arm64" },
    { models: ["Intel Xeon"] },
    { models: ["Cortex-A72", "Cortex-A53"] },
    { cpus: 8 },
    { memoryBytes: 64 * 2 ** 30 },
    { gpus: ["NVIDIA A100"] },
    { gpus: ["NVIDIA A100", "NVIDIA A100"] },
  ];
  const texts = [{}, ...others].map((other) => JSON.stringify(hostFactsOf({ ...host, ...other })));
  assert.equal(new Set(texts).size, texts.length);
  assert.deepEqual(hostFactsOf({ ...host, memoryBytes: host.memoryBytes - 2 ** 20 }), hostFactsOf(host));
});

test("a host that does not report its CPU model has an unknown CPU in its facts", () => {
  assert.equal(hostFactsOf({ ...host, models: [] }).cpu, "unknown");
});

test("the facts of this host are the same on every call", () => {
  const { platform, arch, cpu, cpus, memoryGiB } = hostFacts();
  assert.deepEqual({ platform, arch }, hostKind());
  assert.ok(cpu && Number(cpus) >= 1 && Number(memoryGiB) >= 0);
  assert.deepEqual(hostFacts(), hostFacts());
});

const cpuinfo = (vendor: string, flags: string) => `processor\t: 0
vendor_id\t: ${vendor}
cpu MHz\t\t: ${vendor.length * 1000}
flags\t\t: fpu ${flags} sse2

processor\t: 1
vendor_id\t: ${vendor}
`;

test("processors are of one class if vendor and instructions for arithmetic agree", () => {
  const amd = processorClassOf(cpuinfo("AuthenticAMD", "avx2 fma"));
  assert.equal(amd, "AuthenticAMD avx2 fma");
  assert.equal(processorClassOf(cpuinfo("AuthenticAMD", "fma rdtscp avx2")), amd, "order and other flags");
  for (const other of [
    cpuinfo("GenuineIntel", "avx2 fma"),
    cpuinfo("AuthenticAMD", "avx2 fma avx512f"),
    cpuinfo("AuthenticAMD", "avx2 fma amx_bf16"),
    "CPU implementer\t: 0x41\nFeatures\t: asimd sve bf16\n",
    "",
  ])
    assert.notEqual(processorClassOf(other), amd);
  assert.equal(processorClassOf(""), "unknown");
  assert.match(processorClass(), new RegExp(`^${process.arch} `));
});
