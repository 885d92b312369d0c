// What a rule says of a source file, in the form that editors and terminals turn into a link.

export interface Violation {
  readonly path: string;
  readonly line: number;
  /** What is wrong and what to do. */
  readonly message: string;
}

export function violation(path: string, line: number, message: string): Violation {
  return { path, line, message };
}

export function printable(found: Violation): string {
  return `${found.path}:${found.line}  ${found.message}`;
}
