// `jsonplane validate DIR`: says what a cluster would refuse of a folder of manifests, one line per problem, for a pipeline.
import { checkManifests } from "./manifests/check-manifests.ts";
import { compileManifests } from "./manifests/compile-manifests.ts";
import { type ReadManifests, readManifests } from "./manifests/read-manifests.ts";
import { problemLine, type SourceProblem } from "./manifests/source.ts";

/** Exit code: 0 when every manifest is valid, 1 otherwise and when there is none. `out` takes one line at a time. */
export async function validateCommand(dir: string, out: (line: string) => void): Promise<number> {
  const read = await readOrSay(dir, out);
  if (read === undefined) return 1;
  const checked = checkManifests(read);
  const compiled = compileManifests(checked);
  const problems = inOrder([...checked.problems, ...compiled.problems]);
  // A problem says more than a note of the same place.
  const places = new Set(problems.map(placeOf));
  for (const note of inOrder([...read.notes, ...compiled.notes])) {
    if (!places.has(placeOf(note))) out(problemLine({ ...note, message: `note: ${note.message}` }));
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

async function readOrSay(dir: string, out: (line: string) => void): Promise<ReadManifests | undefined> {
  try {
    return await readManifests(dir);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && typeof error.code === "string")) throw error;
    out(`${dir}: ${error.code === "ENOENT" ? "no such file or folder" : error.message}`);
    return undefined;
  }
}

function placeOf({ file, line, column }: SourceProblem): string {
  return `${file}:${line}:${column}`;
}

/** By file, line and column; those of one place stay in the order in which they were found. */
function inOrder(problems: readonly SourceProblem[]): readonly SourceProblem[] {
  return problems.toSorted((a, b) => {
    if (a.file !== b.file) return a.file < b.file ? -1 : 1;
    return a.line - b.line || a.column - b.column;
  });
}
