// Observes for how long this process was stopped from outside, e.g. by `scontrol suspend` or Slurm's gang
// scheduling: the programs of a stopped job do not run, but the monotonic clock does. A second thread moves a time
// each second and does nothing else. So only a stop makes it late: the first thread also is, when it works or
// waits for a slow disk, and an agent can cause that.

import { Worker } from "node:worker_threads";

/** A shorter gap may be a busy machine's. */
const shortestMs = 5_000;

export function watchStopped({ tickMs = 1000, leastMs = shortestMs } = {}) {
  const lastTick = new BigInt64Array(new SharedArrayBuffer(8));
  lastTick[0] = process.hrtime.bigint();
  const stopped = new BigInt64Array(new SharedArrayBuffer(8));
  const tickNs = BigInt(tickMs) * 1_000_000n;
  const gapNs = tickNs + BigInt(leastMs) * 1_000_000n;
  const worker = new Worker(tickerCode, {
    eval: true,
    execArgv: [], // flags of this process may say that code is a module
    workerData: { lastTick, stopped, tickMs, tickNs, gapNs },
  });
  let isTicking = false;
  const { promise: began, resolve: begin } = Promise.withResolvers<void>();
  worker
    .once("message", () => {
      isTicking = true;
      begin();
    })
    .once("exit", () => {
      isTicking = false;
    })
    .on("error", () => {}); // without the thread nothing is observed, and all time counts
  worker.unref();
  return {
    /** Resolves once stops are observed. */
    began,
    /** How long the process was stopped since the last call, in ms. */
    take(): number {
      // after a stop either thread may be the first
      const now = process.hrtime.bigint();
      const isLate = isTicking && now - Atomics.load(lastTick, 0) >= gapNs;
      if (isLate) {
        const gap = now - Atomics.exchange(lastTick, 0, now);
        if (gap >= gapNs) Atomics.add(stopped, 0, gap - tickNs);
      }
      return Number(Atomics.exchange(stopped, 0, 0n) / 1_000_000n);
    },
    close() {
      isTicking = false;
      void worker.terminate();
    },
  };
}

const tickerCode = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { lastTick, stopped, tickMs, tickNs, gapNs } = workerData;
  const tick = () => {
    const now = process.hrtime.bigint();
    const gap = now - Atomics.exchange(lastTick, 0, now);
    if (gap >= gapNs) Atomics.add(stopped, 0, gap - tickNs);
  };
  Atomics.store(lastTick, 0, process.hrtime.bigint());
  setInterval(tick, tickMs);
  parentPort.postMessage("begun");
`;
