// The workspace that all parts of a run on this machine share: the state folder and its contents.
import { pythonFolders, pythonPathFile } from "@mlrb/kit/python-path";
import { Consulted } from "../decide/consulted-files.ts";
import { CodeDigests } from "../digests/code-digest.ts";
import { FileDigests } from "../digests/file-digest-memory.ts";
import { PythonImports } from "../digests/python-imports.ts";
import { LastRuns } from "../journal/last-runs.ts";
import { AttemptRecords } from "../records/attempt-records.ts";
import { ActionCache } from "./action-cache.ts";
import { Store } from "./artifact-store.ts";
import { type StateFolder, stateFolder } from "./state-folder.ts";
import { VerifiedContents } from "./verified-contents.ts";

export type Workspace = {
  /** The repository: pipelines, tasks, scorers, code. Absolute. */
  repository: string;
  state: StateFolder;
  store: Store;
  verified: VerifiedContents;
  actions: ActionCache;
  attempts: AttemptRecords;
  digests: FileDigests;
  codes: CodeDigests;
  imports: PythonImports;
  /** Where Python looks besides a script's own folder, from the repository's root. */
  pythonFolders: string[];
  last: LastRuns;
  consulted: Consulted;
};

/** `consulted` records the files of the repository that are read. */
export function openWorkspace(at: {
  repository: string;
  root: string;
  pipeline: string;
  profile: string;
  consulted?: Consulted;
}): Workspace {
  const state = stateFolder(at.root);
  const store = new Store(state.blobs);
  const verified = new VerifiedContents(state.memory);
  const consulted = at.consulted ?? new Consulted(at.repository);
  const digests = new FileDigests(at.repository, state.memory, consulted);
  consulted.file(pythonPathFile);
  const folders = pythonFolders(at.repository);
  return {
    repository: at.repository,
    state,
    store,
    verified,
    actions: new ActionCache(state.actions),
    attempts: new AttemptRecords(state.attempts, { store, verified }),
    digests,
    imports: new PythonImports({
      root: at.repository,
      folders,
      memory: state.memory,
      consulted,
      digestOf: (path) => digests.of(path),
    }),
    pythonFolders: folders,
    codes: new CodeDigests(at.repository, state.memory, consulted),
    last: new LastRuns(state.last, at.pipeline, at.profile),
    consulted,
  };
}
