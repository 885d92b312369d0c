// Why a request was refused, as the server says it, or a proxy in front of it.

/** What a refused request answered (RFC 9457). */
export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail?: string;
  readonly code?: string;
  readonly errors?: readonly ProblemItem[];
}

export interface ProblemItem {
  readonly pointer: string;
  /** Of JSON Schema. */
  readonly keyword?: string;
  readonly message: string;
}

/** Of a response that is not ok. */
export async function problemOf(response: Response): Promise<Problem> {
  const { status, statusText } = response;
  const body: unknown = await response.json().catch(() => undefined);
  const isProblem = typeof body === "object" && body !== null && "title" in body && typeof body.title === "string";
  // A proxy in front of the service answers in its own words.
  return isProblem
    ? (body as Problem)
    : { status, title: statusText === "" ? `The server answered ${status}` : statusText };
}

/** For people, as the server says it. */
export function describeRefusal({ title, detail }: Problem): string {
  return detail === undefined ? `${title}.` : `${title}. ${detail}`;
}
