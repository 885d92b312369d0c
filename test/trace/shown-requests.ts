// Five usual requests; docs/ARCHITECTURE.md shows the way of the first.

import { formatTrace } from "./format-trace.ts";
import { connectInspector } from "./inspector.ts";
import { type Trace, trace } from "./trace.ts";
import { startTracedDev } from "./traced-dev.ts";
import { senderOf, warmUpsOfRequest } from "./traced-request.ts";

export interface ShownTrace {
  readonly title: string;
  readonly maxFiles: number;
  readonly maxFunctions: number;
  readonly trace: Trace;
}

interface ShownRequest {
  readonly title: string;
  readonly method: string;
  /** `{id}` is the id of a book. */
  readonly path: string;
  readonly body?: string;
  /** Sent without a credential. */
  readonly isAnonymous?: boolean;
  /** Files and functions that it may run through; these figures only go down. */
  readonly maxFiles: number;
  readonly maxFunctions: number;
}

const book = '{"title":"Emma","author":{"name":"Jane Austen"},"price":9.5}';

const shownRequests: readonly ShownRequest[] = [
  {
    title: "GET of an object, with an API key",
    method: "GET",
    path: "/api/books/{id}",
    maxFiles: 24,
    maxFunctions: 70,
  },
  { title: "GET of a sorted list", method: "GET", path: "/api/books?_sort=-price", maxFiles: 30, maxFunctions: 106 },
  { title: "POST of an object", method: "POST", path: "/api/books", body: book, maxFiles: 44, maxFunctions: 174 },
  {
    title: "GET of a value below a root key",
    method: "GET",
    path: "/json/settings/openingHours/0/from",
    isAnonymous: true,
    maxFiles: 22,
    maxFunctions: 83,
  },
  {
    title: "PUT of an object",
    method: "PUT",
    path: "/api/books/{id}",
    body: '{"price":{n}}',
    maxFiles: 45,
    maxFunctions: 184,
  },
];

/** Dev mode also sweeps expired objects by itself. */
const begin = { path: "dataplane/http/server.ts", name: "rewriteUrl" };

/** Traces them in dev mode, with an administrator's API key. */
export async function traceShownRequests(): Promise<readonly ShownTrace[]> {
  const dev = await startTracedDev();
  try {
    const base = `${dev.url}/default/bookshop`;
    const headers = { authorization: `apikey ${await dev.apiKey("back-office")}`, "content-type": "application/json" };
    const reply = await fetch(`${base}/api/books`, { method: "POST", headers, body: book });
    const { id } = (await reply.json()) as { readonly id: string };
    const inspector = await connectInspector(dev.inspector);
    const traces: ShownTrace[] = [];
    for (const { title, method, path, body, isAnonymous, maxFiles, maxFunctions } of shownRequests) {
      const url = base + path.replace("{id}", id);
      const request = { method, url, headers: isAnonymous ? {} : headers, body };
      traces.push({
        title,
        maxFiles,
        maxFunctions,
        trace: await trace(inspector, { ask: senderOf(request), warmUps: warmUpsOfRequest, begin }),
      });
    }
    inspector.close();
    return traces;
  } finally {
    await dev.stop();
  }
}

export function formatTraces(traces: readonly ShownTrace[]): string {
  return traces.map(({ title, trace }) => formatTrace(title, trace)).join("\n");
}

export function formatShown(traces: readonly ShownTrace[]): string {
  return formatTraces(traces.slice(0, 1));
}
