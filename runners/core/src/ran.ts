// When and where something ran: kept beside what it gave and never in it.
export type Ran = {
  run: string;
  startedAt: string;
  durationMs: number;
  executor: string;
  host: string;
  /** In what on that host: sandbox, image, engine, GPUs. */
  where?: Record<string, string>;
};
