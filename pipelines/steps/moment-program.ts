// An intermediate checkpoint of a submission that is a program, as moment.ts does it for models.
import { admitProgram, writeCleanProgram } from "@mlrb/kit/admission/admit-program";
import { writeMoment } from "./moment/write-moment.ts";

writeMoment(admitProgram, writeCleanProgram);
