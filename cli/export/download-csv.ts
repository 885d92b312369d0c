// Reads all pages of a collection as CSV, and writes them as one file. Throws as service.ts does.

import { firstRecord } from "../../core/csv.ts";
import { patiently } from "../service/patiently.ts";
import { reasonOf, ServerAway, type Service, ServiceRefused } from "../service/service.ts";

/** More is refused by projects that don't raise it. */
const pageLimit = 100;

export interface CsvDeps {
  readonly service: Pick<Service, "read">;
  /** Resolves once there is room for more. */
  readonly write: (bytes: Buffer) => Promise<void>;
}

/** `collection` may have filters, an order and `_fields`. */
export async function downloadCsv({ service, write }: CsvDeps, collection: URL): Promise<void> {
  let header: string | undefined;
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    const page = await patiently(() => readPage(service, collection, cursor ?? ""));
    if (header !== undefined && !page.text.startsWith(header)) {
      throw new ServiceRefused("The schema has changed meanwhile, and with it the columns: begin again");
    }
    await write(Buffer.from(page.text.slice(header?.length ?? 0)));
    header ??= firstRecord(page.text);
    cursor = page.next;
  }
}

interface CsvPage {
  readonly text: string;
  readonly next: string | undefined;
}

async function readPage(service: Pick<Service, "read">, collection: URL, cursor: string): Promise<CsvPage> {
  const url = new URL(collection);
  const asked = `_cursor=${encodeURIComponent(cursor)}&_limit=${pageLimit}&_count=false`;
  url.search = [collection.search.slice(1), asked].filter(Boolean).join("&");
  const response = await service.read(url, { Accept: "text/csv" });
  const type = response.headers.get("content-type") ?? "nothing";
  if (!type.startsWith("text/csv")) {
    throw new ServiceRefused(`${url.origin}${url.pathname} answers with ${type}, not with CSV`);
  }
  const text = await response.text().catch((cause: unknown) => {
    throw new ServerAway(`${url.origin} broke off${reasonOf(cause)}`, { cause });
  });
  const next = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  // Nothing but the cursor: a link may lead to another host, which is to get no credential.
  return { text, next: next && (new URL(next).searchParams.get("_cursor") ?? undefined) };
}
