// Whether a node may compute the result of a key that was made on another host.
import assert from "node:assert/strict";
import { test } from "node:test";
import { otherHost } from "./other-host.ts";

const here = { platform: "linux", arch: "x64", cpu: "EPYC 7763", cpus: "4", processor: "x64 AMD avx2" };

test("a node with another class of processors is refused, with a way out", () => {
  const why = otherHost({ processor: "x64 Intel avx2 avx512f" }, here);
  assert.match(why ?? "", /class of processors \(x64 AMD avx2\).*\(x64 Intel avx2 avx512f\).*constraint/);
});

test("a measurement of speed needs the model of the key's processor", () => {
  assert.match(otherHost({ ...here, cpu: "Xeon" }, here) ?? "", /another cpu \(EPYC 7763\)/);
});

test("a job that sees fewer CPUs than its node has is on the same kind of host", () => {
  assert.equal(otherHost({ ...here, cpus: "128", memoryGiB: "1007" }, here), undefined);
});

test("a key without host facts may be computed anywhere", () => {
  assert.equal(otherHost({}, here), undefined);
});
