// `jsonplane export --format csv`: one resource as CSV. Throws ServiceRefused for settings that are
// about whole exports.

import { firstRecord } from "../../core/csv.ts";
import { patiently } from "../service/patiently.ts";
import { cursorIn, pageUrl, requireType, type Service, ServiceRefused, textOf } from "../service/service.ts";
import { openPart, standardOutput } from "./part-file.ts";
import type { ExportSettings } from "./settings.ts";

/** Resolves with the number of bytes. `base` = of the project, without a slash at its end. */
export async function exportCsv(service: Service, base: string, settings: ExportSettings): Promise<number> {
  const collection = collectionOf(base, settings);
  const part = settings.out === undefined ? standardOutput : await openPart(settings.out);
  let written = 0;
  const write = async (bytes: Buffer): Promise<void> => {
    written += bytes.length;
    await part.write(bytes);
  };
  try {
    await downloadCsv({ service, write }, collection);
  } catch (error) {
    await part.discard();
    throw error;
  }
  await part.complete();
  return written;
}

function collectionOf(base: string, { resource = [], rootKey, owner, since, continued }: ExportSettings): URL {
  const [name, ...others] = resource;
  if (name === undefined || others.length > 0) throw new ServiceRefused("--format csv needs --resource with one name");
  if (rootKey !== undefined || owner !== undefined || since !== undefined || continued) {
    throw new ServiceRefused("--format csv is for all objects of one resource, without further flags");
  }
  return new URL(`${base}/api/${encodeURIComponent(name)}`);
}

interface CsvDeps {
  readonly service: Pick<Service, "read">;
  /** Resolves once there is room for more. */
  readonly write: (bytes: Buffer) => Promise<void>;
}

/** Writes all pages as one file. `collection` may have filters, an order and `_fields`. */
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
