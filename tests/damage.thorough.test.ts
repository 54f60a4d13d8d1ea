// The kinds of damage that the default tier leaves out.
import { after } from "node:test";
import { testDamages } from "./support/damages.ts";
import { throwAwayRepository } from "./support/throw-away-repository.ts";

const repository = throwAwayRepository();
after(() => repository.remove());

testDamages(repository, "thorough");
