// The local executor as the engine relies on it.
import { executorContract } from "../../../../tests/support/executor-contract.ts";
import { localExecutor } from "./local-executor.ts";

executorContract("local", ({ root }) => localExecutor(root), { adopts: false });
