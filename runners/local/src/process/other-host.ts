// Whether a node may compute the result of a key that was made on another host (ADR 27).
// Pure.

/** A job may see fewer CPUs, less memory and fewer GPUs than its node has. */
const compared = ["platform", "arch", "cpu", "processor"];

/** What a person has to change, if the facts `here` differ from those of the key. */
export function otherHost(
  ofKey: Readonly<Record<string, string>>,
  here: Readonly<Record<string, string>>,
): string | undefined {
  const name = compared.find((one) => ofKey[one] !== undefined && ofKey[one] !== here[one]);
  if (name === undefined) return undefined;
  return `its node has another ${name === "processor" ? "class of processors" : name} (${here[name]}) than the host that submits (${ofKey[name]}), and its key holds the latter; choose nodes of one kind with slurm: { constraint }, and submit from one of that kind, or use executor: local for this stage`;
}
