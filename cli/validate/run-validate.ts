// `jsonplane validate DIR`: lists what a cluster would refuse in a folder of manifests, one line per problem, for a pipeline.
import { checkManifests } from "../manifests/check-manifests.ts";
import { compileManifests } from "../manifests/compile-manifests.ts";
import { type ReadManifests, readManifests } from "../manifests/read-manifests.ts";
import { noteLine, problemLine, type SourceProblem } from "../manifests/source.ts";

/** Exit code: 0 when every manifest is valid, 1 otherwise and when there is none. `out` takes one line at a time. */
export async function runValidate(dir: string, out: (line: string) => void): Promise<number> {
  const read = await readOrReport(dir, out);
  if (read === undefined) return 1;
  const checked = checkManifests(read);
  const compiled = compileManifests(checked);
  const problems = sorted([...checked.problems, ...compiled.problems]);
  // Where there is a problem, a note adds nothing.
  const positions = new Set(problems.map(positionOf));
  for (const note of sorted([...read.notes, ...compiled.notes])) {
    if (!positions.has(positionOf(note))) out(noteLine(note));
  }
  for (const problem of problems) out(problemLine(problem));
  if (problems.length > 0) {
    out(problems.length === 1 ? "1 problem" : `${problems.length} problems`);
    return 1;
  }
  const valid = checked.manifests.length + checked.secrets.length;
  out(
    valid === 0 ? `${dir}: no manifests here` : `${dir}: ${valid} ${valid === 1 ? "object is" : "objects are"} valid`,
  );
  return valid === 0 ? 1 : 0;
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

function positionOf({ file, line, column }: SourceProblem): string {
  return `${file}:${line}:${column}`;
}

/** By file, line and column; problems at one position keep the order in which they were found. */
function sorted(problems: readonly SourceProblem[]): readonly SourceProblem[] {
  return problems.toSorted((a, b) => {
    if (a.file !== b.file) return a.file < b.file ? -1 : 1;
    return a.line - b.line || a.column - b.column;
  });
}
