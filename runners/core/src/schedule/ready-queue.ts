// The queue of ready instances and of those still being decided: a free CPU is kept for a more urgent instance
// whose decision is about to come. Instances with equal requests share a lane: if one does not fit, none of its
// lane does, so a pass costs the number of lanes and not the length of the queue.

import { type Amounts, cpusAt } from "./amounts.ts";

type Lane = { wants: Amounts; heap: number[]; blocked: boolean };

const [gone, undecided, ready] = [0, 1, 2];

export class ReadyQueue {
  readonly #lanes = new Map<string, Lane>();
  readonly #priority: readonly number[];
  readonly #wants: (index: number) => Amounts;
  readonly #state: Uint8Array;
  /** 1 for every instance in a heap, also those that left the queue: removal from the middle would cost more. */
  readonly #heaped: Uint8Array;
  #ready = 0;

  constructor(priority: readonly number[], wants: (index: number) => Amounts) {
    this.#priority = priority;
    this.#wants = wants;
    this.#state = new Uint8Array(priority.length);
    this.#heaped = new Uint8Array(priority.length);
  }

  /** The number of ready instances. */
  get size(): number {
    return this.#ready;
  }

  put(index: number, state: "undecided" | "ready"): void {
    this.leave(index);
    this.#state[index] = state === "ready" ? ready : undecided;
    if (state === "ready") this.#ready++;
    if (this.#heaped[index]) return;
    const wants = this.#wants(index);
    const lane = this.#lanes.getOrInsert(wants.join(" "), { wants, heap: [], blocked: false });
    this.#push(lane.heap, index);
  }

  leave(index: number): void {
    if (this.#state[index] === ready) this.#ready--;
    this.#state[index] = gone;
  }

  /**
   * Removes the instances that fit into `free`, most urgent first, and subtracts their amounts. What an instance
   * lacks is reserved for it, so that large instances never starve. Nothing is reserved for an instance that is
   * not `startable`: it waits until a service ends, and the users of this service must not wait for it.
   */
  takeFitting(free: number[], startable: (index: number) => boolean = () => true): number[] {
    const taken: number[] = [];
    if (this.#ready === 0 || free[cpusAt]! <= 0) return taken;
    const left = [...free];
    const passed: { heap: number[]; index: number }[] = [];
    for (const lane of this.#lanes.values()) lane.blocked = false;
    while (left[cpusAt]! > 0 && this.#ready > 0) {
      const lane = this.#mostUrgent();
      if (!lane) break;
      const { wants, heap } = lane;
      if (!startable(heap[0]!)) {
        passed.push({ heap, index: this.#pop(heap) });
        continue;
      }
      for (let kind = 0; kind < left.length; kind++) {
        if (wants[kind]! <= left[kind]!) continue;
        left[kind] = 0;
        lane.blocked = true;
      }
      if (lane.blocked) continue;
      for (let kind = 0; kind < left.length; kind++) left[kind]! -= wants[kind]!;
      const index = this.#pop(heap);
      if (this.#state[index] === ready) {
        for (let kind = 0; kind < left.length; kind++) free[kind]! -= wants[kind]!;
        this.leave(index);
        taken.push(index);
      } else passed.push({ heap, index });
    }
    for (const { heap, index } of passed) this.#push(heap, index);
    return taken;
  }

  /** Removes all ready instances; returns them by index. */
  clear(): number[] {
    const all: number[] = [];
    for (const [index, state] of this.#state.entries()) if (state === ready) all.push(index);
    for (const index of all) this.leave(index);
    return all;
  }

  /** The lane with the most urgent first instance; instances that left the queue are dropped on the way. */
  #mostUrgent(): Lane | undefined {
    let best: Lane | undefined;
    for (const lane of this.#lanes.values()) {
      if (lane.blocked) continue;
      const { heap } = lane;
      while (heap.length > 0 && this.#state[heap[0]!] === gone) this.#pop(heap);
      if (heap.length > 0 && (!best || this.#before(heap[0]!, best.heap[0]!))) best = lane;
    }
    return best;
  }

  #before(a: number, b: number): boolean {
    const [first, second] = [this.#priority[a]!, this.#priority[b]!];
    return first > second || (first === second && a < b);
  }

  #push(heap: number[], index: number): void {
    this.#heaped[index] = 1;
    let at = heap.push(index) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#before(index, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = index;
  }

  #pop(heap: number[]): number {
    const top = heap[0]!;
    this.#heaped[top] = 0;
    const last = heap.pop()!;
    if (heap.length === 0) return top;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && this.#before(heap[child + 1]!, heap[child]!)) child++;
      if (!this.#before(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}
