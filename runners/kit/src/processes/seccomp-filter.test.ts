// Runs the filter as the kernel would, on calls that no test may really make.
import assert from "node:assert/strict";
import { test } from "node:test";
import { seccompFilter } from "./seccomp-filter.ts";

type Call = { nr: number; audit: number; args?: bigint[] };

const x64 = 0xc000003e;
const arm64 = 0xc00000b7;
const allowed = "allowed";

/** Runs the program and returns its verdict in words. Throws if it runs off its end: the kernel would not load it. */
function verdict(program: Uint8Array, { nr, audit, args = [] }: Call): string {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, nr, true);
  data.setUint32(4, audit, true);
  args.forEach((value, index) => void data.setBigUint64(16 + 8 * index, value, true));
  const code = new DataView(program.buffer);
  let held = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const [yes, no] = [code.getUint8(8 * at + 2), code.getUint8(8 * at + 3)];
    const value = code.getUint32(8 * at + 4, true);
    const kind = code.getUint16(8 * at, true);
    if (kind === 0x20) held = data.getUint32(value, true);
    else if (kind === 0x15) at += held === value ? yes : no;
    else if (kind === 0x35) at += held >= value ? yes : no;
    else if (kind === 0x45) at += (held & value) !== 0 ? yes : no;
    else if (kind === 0x06)
      return value === 0x7fff0000 ? allowed : value === 0x80000000 ? "killed" : `error ${value & 0xffff}`;
    else throw new Error(`unknown instruction ${kind}`);
  }
  throw new Error("the program has no end");
}

const asked = (nr: number, ...args: bigint[]) => verdict(seccompFilter("x64")!, { nr, audit: x64, args });

test("ordinary calls are allowed", () => {
  for (const nr of [0, 1, 9, 41, 57, 59, 231, 257]) assert.equal(asked(nr), allowed, String(nr));
  assert.equal(verdict(seccompFilter("arm64")!, { nr: 221, audit: arm64 }), allowed);
});

test("mounts, key rings and namespaces are refused on both machines", () => {
  for (const nr of [165, 248, 250, 308, 321, 442]) assert.equal(asked(nr), "error 1", String(nr));
  for (const nr of [40, 217, 219, 268, 280, 442])
    assert.equal(verdict(seccompFilter("arm64")!, { nr, audit: arm64 }), "error 1", String(nr));
});

test("new threads and processes are allowed, but not with a namespace of their own", () => {
  const thread = 0x3d0f00n;
  const newUser = 0x10000000n;
  assert.equal(asked(56, thread), allowed);
  assert.equal(asked(56, thread | newUser), "error 1");
  assert.equal(asked(272, 0x400n), allowed);
  assert.equal(asked(272, newUser), "error 1");
  assert.equal(asked(435), "error 38", "what has its flags in memory is not there");
});

test("a program may set its own limits and read another's, but not set another's", () => {
  assert.equal(asked(302, 0n, 7n, 0x7fff_0000_0000n), allowed);
  assert.equal(asked(302, 1n, 7n, 0n), allowed);
  assert.equal(asked(302, 1n, 7n, 0x7fff_0000_0000n), "error 1");
  assert.equal(asked(302, 1n, 7n, 0x1234n), "error 1");
});

test("typing into a terminal and sockets to the host of a virtual machine are refused", () => {
  assert.equal(asked(16, 0n, 0x5401n), allowed);
  assert.equal(asked(16, 0n, 0x5412n), "error 1");
  assert.equal(asked(16, 0n, 0x541cn), "error 1");
  for (const [family, result] of [
    [1n, allowed],
    [2n, allowed],
    [38n, "error 1"],
    [40n, "error 1"],
  ] as const)
    assert.equal(asked(41, family), result);
});

test("memory that no process maps does not exist where memory is only polled", () => {
  for (const [machine, audit, calls] of [
    ["x64", x64, [29, 64, 68, 240, 319, 447]],
    ["arm64", arm64, [180, 186, 190, 194, 279, 447]],
  ] as const)
    for (const nr of calls) {
      assert.equal(verdict(seccompFilter(machine, { polledMemory: true })!, { nr, audit }), "error 38");
      assert.equal(verdict(seccompFilter(machine)!, { nr, audit }), allowed);
    }
});

test("no thread gets descriptors of its own where the disk is only polled", () => {
  const thread = 0x3d0f00n;
  const files = 0x400n;
  for (const [machine, audit, clone, unshare] of [
    ["x64", x64, 56, 272],
    ["arm64", arm64, 220, 97],
  ] as const) {
    const polled = seccompFilter(machine, { polledDisk: true })!;
    const answer = (nr: number, ...args: bigint[]) => verdict(polled, { nr, audit, args });
    assert.equal(answer(clone, thread), allowed);
    assert.equal(answer(clone, thread & ~files), "error 1");
    assert.equal(answer(clone, 0x11n), allowed, "a process has its own");
    assert.equal(answer(clone, thread | 0x10000000n), "error 1", "namespaces stay refused");
    assert.deepEqual([answer(unshare, files), answer(unshare, 0x200n)], ["error 1", allowed]);
    assert.deepEqual([answer(436, 3n, 9n, 2n), answer(436, 3n, 9n, 4n)], ["error 1", allowed]);
    assert.equal(verdict(seccompFilter(machine)!, { nr: unshare, audit, args: [files] }), allowed);
  }
});

test("calls by another machine's numbers end the program or do not exist", () => {
  assert.equal(verdict(seccompFilter("x64")!, { nr: 21, audit: 0x40000003 }), "killed");
  assert.equal(asked(0x40000000 + 165), "error 38");
  assert.equal(seccompFilter("riscv64"), undefined);
});
