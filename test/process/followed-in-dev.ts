// Follows a page of the documentation in development mode, in a folder of its own: every file
// saved, every line pasted, every answer compared.

import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { type Deviation, followPage } from "../support/documents/documented-page.ts";
import { pasteShell } from "../support/documents/paste-shell.ts";
import { type DevProcess, devProcess } from "../support/fleet/dev-process.ts";
import { freePort } from "../support/process/free-port.ts";
import { startRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Followed {
  readonly deviations: readonly Deviation[];
  /** Of the page's port 8080. */
  readonly port: string;
}

/** What it starts is to be closed by `closing`, the last one first. */
export async function followInDev(
  markdown: string,
  { folder, closing }: { readonly folder: string; readonly closing: (() => Promise<unknown>)[] },
): Promise<Followed> {
  await mkdir(join(folder, "bin"));
  await symlink(join(root, "bin/jsonplane"), join(folder, "bin/jsonplane"));
  const [port, adminPort] = [String(await freePort()), String(await freePort())];
  const outward = (text: string) => text.replaceAll(":8080", `:${port}`).replaceAll(":9090", `:${adminPort}`);
  const inward = (text: string) => text.replaceAll(`:${port}`, ":8080").replaceAll(`:${adminPort}`, ":9090");
  const shell = pasteShell(folder);
  closing.push(() => shell.stop());
  const emptyRedis = async () => {
    const redis = await startRedis();
    closing.push(() => redis.stop());
    return redis.url;
  };
  let dev: DevProcess | undefined;
  let since = 0;
  const deviations = await followPage(markdown, {
    folder,
    kind: "dev",
    async paste(lines) {
      const { printed, code } = await shell.paste(outward(lines));
      return { printed: inward(printed), code };
    },
    async startDev(flags) {
      const words = await Promise.all(flags.map((word) => (word.startsWith("redis://") ? emptyRedis() : word)));
      dev = devProcess([...words, "--port", port, "--admin-port", adminPort], folder);
      closing.push(dev.stop);
      await dev.ready();
    },
    devSays: (line) => eventually(() => expect(inward(dev?.out().slice(since) ?? "").split("\n")).toContain(line)),
    mark() {
      since = dev?.out().length ?? 0;
    },
  });
  return { deviations, port };
}
