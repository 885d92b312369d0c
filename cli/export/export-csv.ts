// `jsonplane export --format csv`: one resource as CSV. Throws ServiceRefused for settings that are
// about whole exports.

import { type Service, ServiceRefused } from "../service/service.ts";
import { downloadCsv } from "./download-csv.ts";
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
