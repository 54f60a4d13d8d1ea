// What each row of the bench cannot fall below, and why its target is missed where it is known to be. The one
// place for reasons: the bench prints those of missed rows under its table.

export type RowNote = {
  /** Matches the name of the row. */
  row: RegExp;
  /** The least that any program would need for the same. */
  floor: string;
  /** Why the target is missed. */
  missed?: string;
};

const emptyNode = "an empty Node, about 0.04 s";
const reference = "1 × the reference, which does only this work";

/** The first that matches counts. */
const rowNotes: readonly RowNote[] = [
  {
    row: /^no-op after a touch/,
    floor: `${emptyNode}; the hash of each touched file`,
    missed: "as for the no-op",
  },
  {
    row: /^no-op/,
    floor: `${emptyNode}; one stat of each file that the last run consulted`,
    missed: "Node and the modules of the fast path take longer than ninja needs for a small graph",
  },
  {
    row: /^cold/,
    floor: reference,
    missed: "each stage has a lease, inputs, a log, a search for left processes, and an entry in the cache",
  },
  {
    row: /^the runner's own/,
    floor: "one start of a process, about 0.3 ms",
    missed: "about eighty system calls a stage (strace -fc shows them)",
  },
  {
    row: /^one script edited/,
    floor: emptyNode,
    missed: "about 400 modules are loaded, and every stage is bound again",
  },
  {
    row: /^(one task edited|one edit|growth of one edit)/,
    floor: `${emptyNode}; the edited stages' own processes`,
    missed: "an edit of YAML: all modules are loaded, and every stage is planned and bound again",
  },
  {
    row: /^(plan|status|explain|list|check|attempts list)\b|after an edit of/,
    floor: emptyNode,
    missed:
      "loading modules takes 0.06 to 0.1 s, after an edit of YAML parsing and planning 0.07 s, collecting garbage 0.03 to 0.06 s",
  },
  { row: /out, linked$/, floor: "one call of link" },
  {
    row: /^\d+ GiB/,
    floor: "reading and hashing at the speed of the processor and the disk",
    missed: "the file is hashed on another thread, which other work delays",
  },
  {
    row: /(into|out of) the store|out, copied$|GiB|MiB/,
    floor: "reading and hashing at the speed of the processor and the disk",
    missed: "small files: each is renamed, made read-only and noted in an index",
  },
  {
    row: /files of .* (kept|out)/,
    floor: "creating the files once, which is most of the time",
    missed: "each file gets a second name in the record, and all are synced (ADR 4)",
  },
  { row: /\(floor\)/, floor: "a floor itself" },
  {
    row: /^report/,
    floor: "reading the samples' bytes once",
    missed: "each item is read from its bytes and takes part in several tests",
  },
  {
    row: /permissions/,
    floor: "0",
    missed: "Node and Python read the list of permitted files at their start",
  },
  {
    row: /sandbox|program/,
    floor: "0: the program alone",
    missed: "bubblewrap mounts each folder, and removes them",
  },
  { row: /container/, floor: "0: the engine's own create, start, wait and rm" },
  { row: /squeue/, floor: "1 call in an interval" },
  {
    row: /Slurm|queue|done\.json|submissions/,
    floor: "the start of Node in each job; Node itself holds 126 MB",
  },
  { row: /^warm process/, floor: "importing torch and transformers: about 7 s, 0.5 GB" },
  { row: /walls|beyond its compute|holds|fresh/, floor: "the scorer's own compute, its model and one batch" },
  { row: /scores, /, floor: "1 × their compute on the available cores" },
  { row: /causality|together/, floor: "the compute of the model on the same texts" },
  {
    row: /of one model$|^lower bound/,
    floor: "the model's compute on texts of which none begins like another",
    missed: "nothing is shared: the scorers' texts differ, and loading the weights takes 1 % of the time",
  },
  { row: /restore point|workspace/, floor: "reading and hashing the changed bytes" },
  {
    row: /extrapolated/,
    floor: "1 × plain lm-eval, which does only this work",
    missed: "preparing tasks and writing samples",
  },
  { row: /(processor time|peak memory|: read|: written)$/, floor: "that of the same work's row above" },
  {
    row: /^first run/,
    floor: "the arithmetic of its models on two cores",
    missed:
      "24 attempts with fixed budgets are a third of the time; scores and checks that load a model the rest",
  },
  {
    row: /^growth/,
    floor: "constant: the work of one change",
    missed: "see the cause in docs/performance.md",
  },
];

export function rowNote(what: string): RowNote | undefined {
  return rowNotes.find(({ row }) => row.test(what));
}
