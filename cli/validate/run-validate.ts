// `jsonplane validate DIR`: lists what a cluster would refuse in a folder of manifests, one line
// per problem; where asked, also how many stored objects its schemas would refuse.

import { checkManifests } from "../manifests/check-manifests.ts";
import { compileManifests } from "../manifests/compile-manifests.ts";
import { type ReadManifests, readManifests } from "../manifests/read-manifests.ts";
import { byPosition, noteLine, problemLine, type SourceProblem } from "../manifests/source.ts";
import type { CredentialFiles } from "../service/credential.ts";
import { fetch } from "../service/fetch.ts";
import { ServerAway, ServiceRefused } from "../service/service.ts";
import { checkStored } from "./check-stored.ts";

export interface ValidateSettings extends CredentialFiles {
  /** Warnings fail as well. */
  readonly strict: boolean;
  /** Base URL of a project whose stored objects are to meet the schemas; undefined = none. */
  readonly against?: string | undefined;
}

/** Exit code: 0 when every manifest is valid, 1 otherwise. `out` takes one line at a time. */
export async function runValidate(
  dir: string,
  { strict, against, ...files }: ValidateSettings,
  out: (line: string) => void,
): Promise<number> {
  const read = await readOrReport(dir, out);
  if (read === undefined) return 1;
  const checked = checkManifests(read);
  const compiled = await compileManifests(checked);
  const problems = [...checked.problems, ...compiled.problems].toSorted(byPosition);
  // Where there is a problem, a note adds nothing.
  const positions = new Set(problems.map(positionOf));
  const notes = [...read.notes, ...compiled.notes]
    .toSorted(byPosition)
    .filter((note) => !positions.has(positionOf(note)));
  for (const note of notes) out(noteLine(note));
  for (const problem of problems) out(problemLine(problem));
  if (problems.length > 0) {
    out(counted(problems, "problem"));
    return 1;
  }
  const warnings = notes.filter(({ isWarning }) => isWarning);
  if (strict && warnings.length > 0) {
    out(`${counted(warnings, "warning")}, which --strict refuses`);
    return 1;
  }
  const valid = checked.manifests.length + checked.secrets.length;
  out(
    valid === 0 ? `${dir}: no manifests here` : `${dir}: ${valid} ${valid === 1 ? "object is" : "objects are"} valid`,
  );
  if (valid === 0) return 1;
  if (against === undefined) return 0;
  const manifests = checked.manifests.map(({ manifest }) => manifest);
  return await storedOrReport(() => checkStored(manifests, { ...files, against, fetch }, out), out);
}

async function storedOrReport(check: () => Promise<number>, out: (line: string) => void): Promise<number> {
  try {
    const invalid = await check();
    if (invalid > 0) out(`${invalid} stored ${invalid === 1 ? "object" : "objects"} would be invalid`);
    return invalid > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ServiceRefused || error instanceof ServerAway)) throw error;
    out(error.message);
    return 1;
  }
}

async function readOrReport(dir: string, out: (line: string) => void): Promise<ReadManifests | undefined> {
  try {
    return await readManifests(dir);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && typeof error.code === "string")) throw error;
    out(`${dir}: ${error.code === "ENOENT" ? "no such file or folder" : error.message}`);
    return undefined;
  }
}

function counted(found: readonly SourceProblem[], what: string): string {
  return found.length === 1 ? `1 ${what}` : `${found.length} ${what}s`;
}

function positionOf({ file, line, column }: SourceProblem): string {
  return `${file}:${line}:${column}`;
}
