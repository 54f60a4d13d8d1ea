// `pipeline complete -- WORD…`, called by the shells' scripts: prints candidates for the last word, one per line,
// with a description after a tab. Prints no errors: the command line is not finished yet.
import { isManifestKind, manifestNames } from "@mlrb/core/spec/manifest";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import type { Command } from "commander";
import { type Candidate, completions, type Names, type TypedNames } from "../request/completions.ts";
import { rememberedRequest } from "../request/remembered-request.ts";
import { pipelineNames } from "../request/request.ts";
import { executorNames } from "../run/executors.ts";

/** The default of `--pipeline`. */
const usual = "full-benchmark";

export async function completeCommand(repository: string, program: Command, words: string[]): Promise<void> {
  const sources = sourceFiles(repository);
  const plan = async ({ pipeline = usual, profile }: TypedNames) => {
    const asked = { only: [], set: [], json: false, ...(profile !== undefined && { profile }) };
    return (await rememberedRequest(repository, pipeline, asked))?.plan;
  };
  const named = (values: string[]): Candidate[] => values.map((value) => ({ value }));
  const names: Names = async (kind, asked) => {
    switch (kind) {
      case "pipelines":
        return named(pipelineNames(sources));
      case "tasks":
        return named(manifestNames("task", sources));
      case "executors":
        return named(executorNames);
      case "profiles": // a half-typed profile has no plan
        return named(
          (await plan(asked.pipeline === undefined ? {} : { pipeline: asked.pipeline }))?.profiles ?? [],
        );
      case "stages":
        return named((await plan(asked))?.stages.map(({ name }) => name) ?? []);
      case "axes": {
        const { instances: all = [], stages = [] } = (await plan(asked)) ?? {};
        const instances = all.filter(({ stage }) => stage.name !== "environment");
        const points = instances.flatMap(({ axes }) => Object.entries(axes));
        // --set may name any manifest, not only those that the pipeline lists, also where it lists none
        const more = [...new Set([...points.map(([axis]) => axis), ...stages.flatMap(({ each }) => each)])]
          .filter(isManifestKind)
          .flatMap((kind) => manifestNames(kind, sources).map((name) => [kind, name] as const));
        return named([...new Set([...points, ...more].map(([axis, value]) => `${axis}=${value}`))]);
      }
    }
  };
  for (const { value, description } of await completions(words, { program, names }))
    process.stdout.write(description === undefined ? `${value}\n` : `${value}\t${description}\n`);
}
