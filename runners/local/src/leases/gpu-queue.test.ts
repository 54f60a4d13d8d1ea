import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { grantTo, type Waiting } from "./gpu-queue.ts";

const all = ["a", "b", "c", "d"];
const one = (id: number, wants: number, candidates = all): Waiting => ({ id, wants, candidates });

test("the first request gets all the devices that it wants, or none", () => {
  assert.deepEqual(grantTo(1, [one(1, 2), one(2, 2)], all), ["a", "b"]);
  assert.deepEqual(grantTo(2, [one(1, 2), one(2, 2)], all), ["c", "d"]);
  assert.equal(grantTo(1, [one(1, 4)], ["a", "b", "c"]), undefined);
});

test("later small requests do not starve a large request", () => {
  assert.equal(grantTo(2, [one(1, 4), one(2, 1)], ["a", "b", "c"]), undefined);
  assert.deepEqual(grantTo(2, [one(3, 4), one(2, 1)], ["c"]), ["c"]);
});

test("a small request does not wait for a request on other devices", () => {
  const elsewhere = one(1, 2, ["a", "b"]);
  assert.deepEqual(grantTo(2, [elsewhere, one(2, 1)], ["a", "c"]), ["c"]);
  assert.deepEqual(
    grantTo(1, [one(1, 1), one(2, 2, ["a", "b"])], all),
    ["c"],
    "it takes what no other request could use",
  );
});

test("a request that has too few usable devices reserves none of them", () => {
  const blocked = one(1, 2, ["a"]);
  assert.equal(grantTo(1, [blocked, one(2, 1)], all), undefined);
  assert.deepEqual(grantTo(2, [blocked, one(2, 1, ["a"])], all), ["a"]);
});

test("in any order of arrivals and looks no device is shared, every request is granted, and none overtakes", () => {
  const request = fc.record({
    wants: fc.integer({ min: 1, max: 4 }),
    candidates: fc.subarray(all, { minLength: 1 }),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 12 }), fc.infiniteStream(fc.nat()), (requests, chance) => {
      const draw = (below: number) => (chance.next().value as number) % below;
      let waiting = requests
        .map((each, id) => ({ ...each, id }))
        .filter(({ wants, candidates }) => candidates.length >= wants);
      const running = new Map<number, string[]>();
      for (let steps = 0; waiting.length + running.size > 0; steps++) {
        const free = all.filter((uuid) => ![...running.values()].flat().includes(uuid));
        const able = waiting.filter(({ id }) => grantTo(id, waiting, free));
        assert.ok(able.length > 0 || running.size > 0, "somebody can go on");
        if (able.length > 0 && (running.size === 0 || draw(2) === 0)) {
          const next = able[draw(able.length)]!;
          const granted = grantTo(next.id, waiting, free)!;
          assert.equal(new Set(granted).size, next.wants);
          for (const uuid of granted) assert.ok(free.includes(uuid) && next.candidates.includes(uuid));
          const earlier = waiting.filter(({ id }) => id < next.id);
          const left = free.filter((uuid) => !granted.includes(uuid));
          for (const before of earlier) {
            const had = grantTo(before.id, waiting, free);
            if (had)
              assert.ok(grantTo(before.id, earlier, left), "what an earlier one could have it still can");
          }
          running.set(next.id, granted);
          waiting = waiting.filter(({ id }) => id !== next.id);
        } else {
          running.delete([...running.keys()][draw(running.size)]!);
        }
        assert.ok(steps < 1000);
      }
    }),
  );
});
