// Sends the lines of an import, some at a time, each part until it is answered: a part that was
// stored already changes nothing. Throws ServiceRefused where the service refuses the request, and
// ServerAway after several attempts.

import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import { exportMediaType } from "../../core/transfer/lines.ts";
import { type Patience, patiently } from "../service/patiently.ts";
import { type Service, ServiceRefused } from "../service/service.ts";
import type { FileLine } from "./export-file.ts";

export const outcomes = ["created", "replaced", "deleted", "unchanged", "expired", "refused"] as const;

/** How many lines came to what. */
export type Counts = Record<(typeof outcomes)[number], number>;

export interface RefusedLine {
  readonly line: number;
  readonly code: string;
  readonly detail: string;
}

export interface UploadDeps extends Omit<Patience, "attempts"> {
  readonly service: Pick<Service, "post">;
  readonly onRefused: (refused: RefusedLine) => void;
}

/** Proxies take a mebibyte, unless they are told otherwise. */
const bytesPerPart = 512 * 1024;
const linesPerPart = 1_000;
const attempts = 8;
/** Then it is not the lines, but the file or the project that is wrong. */
const maxRefused = 1_000;

export class Upload {
  readonly #deps: UploadDeps;
  readonly #url: URL;
  readonly counts: Counts = { created: 0, replaced: 0, deleted: 0, unchanged: 0, expired: 0, refused: 0 };
  /** The last line that was answered. */
  lastLine = 0;

  constructor(deps: UploadDeps, url: URL) {
    this.#deps = deps;
    this.#url = url;
  }

  /** False where it was given up because too many lines were refused. */
  async send(lines: AsyncIterable<FileLine>): Promise<boolean> {
    for await (const part of partsOf(lines)) {
      await this.#sendPart(part);
      if (this.counts.refused >= maxRefused) return false;
    }
    return true;
  }

  async #sendPart(part: readonly FileLine[]): Promise<void> {
    const body = Buffer.concat(part.map(({ bytes }) => bytes));
    const { service, onRefused, ...patience } = this.#deps;
    const answer = await patiently(() => service.post(this.#url, exportMediaType, body), { ...patience, attempts });
    const summary = summaryIn(answer, this.#url);
    for (const outcome of outcomes) this.counts[outcome] += summary[outcome];
    for (const { line, ...why } of summary.errors) onRefused({ line: part[line - 1]?.line ?? line, ...why });
    this.lastLine = part.at(-1)?.line ?? this.lastLine;
  }
}

type Summary = Readonly<Counts> & { readonly errors: readonly RefusedLine[] };

/** What stands at a wrong URL may answer 200 as well. */
function summaryIn(text: string, { origin, pathname }: URL): Summary {
  const summary = parseOrUndefined(text) as Summary | null | undefined;
  if (Array.isArray(summary?.errors)) return summary as Summary;
  throw new ServiceRefused(`${origin}${pathname} doesn't answer as an import does; is the URL that of a project?`);
}

async function* partsOf(lines: AsyncIterable<FileLine>): AsyncGenerator<readonly FileLine[]> {
  let part: FileLine[] = [];
  let bytes = 0;
  for await (const line of lines) {
    if (part.length > 0 && (part.length >= linesPerPart || bytes + line.bytes.length > bytesPerPart)) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(line);
    bytes += line.bytes.length;
  }
  if (part.length > 0) yield part;
}
