// Reads all pages of a collection as CSV, and writes them as one file. Throws as service.ts does.

import { firstRecord } from "../../core/csv.ts";
import { patiently } from "../service/patiently.ts";
import { cursorIn, pageUrl, requireType, type Service, ServiceRefused, textOf } from "../service/service.ts";

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
  const response = await service.read(pageUrl(collection, cursor), { Accept: "text/csv" });
  requireType(response, collection, "text/csv", "CSV");
  const link = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
  return { text: await textOf(response, collection), next: cursorIn(link) };
}
