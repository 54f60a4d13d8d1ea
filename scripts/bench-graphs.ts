// The graph that the bench measures, as a pipeline and as a build file for ninja: per task one set-up, ten
// attempts, validations and scores; one report.

export function pipelineText(name: string, tasks: number, edit: number): string {
  const works = Array.from({ length: tasks }, (_, index) => `w${index}`).join(", ");
  return `formatVersion: 1
name: ${name}
axes: { work: [${works}], edited: [${edit}], agent: [a, b], seed: [1, 2, 3, 4, 5] }
stages:
  data: { each: [work], command: "echo {work} > {outputs.d}", gives: { d: file } }
  edit: { each: [edited], command: "echo {edited} > {outputs.e}", gives: { e: file } }
  attempt: { each: [work, agent, seed], needs: [data.d], command: "echo {work} {agent} {seed} > {outputs.s}", gives: { s: file } }
  validate: { each: [work, agent, seed], needs: [attempt.s], command: "echo ok {work} {agent} {seed} > {outputs.v}", gives: { v: file } }
  score: { each: [work, agent, seed], needs: [attempt.s, validate.v], command: "echo 1 {work} {agent} {seed} > {outputs.x}", gives: { x: file } }
  report: { collect: [score.x, edit.e], command: "wc -c < {inputs.manifest} > {outputs.r}", gives: { r: file } }
`;
}

export function ninjaText(tasks: number, edit: number): string {
  const lines = ["rule run", "  command = sh -c 'echo $say > $out'", "build edit: run", `  say = ${edit}`];
  const scores: string[] = [];
  for (let work = 0; work < tasks; work++) {
    lines.push(`build d${work}: run`, `  say = ${work}`);
    for (let each = 0; each < 10; each++) {
      const id = `${work}-${each}`;
      lines.push(
        `build s${id}: run d${work}`,
        `  say = s${id}`,
        `build v${id}: run s${id}`,
        `  say = v${id}`,
      );
      lines.push(`build x${id}: run s${id} v${id}`, `  say = x${id}`);
      scores.push(`x${id}`);
    }
  }
  lines.push(`build report: run edit ${scores.join(" ")}`, "  say = report", "default report", "");
  return lines.join("\n");
}
