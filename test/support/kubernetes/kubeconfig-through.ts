// The same kubeconfig by way of another port of this machine, such as a proxy's: the server's
// certificate is for the address.

import { readFile, writeFile } from "node:fs/promises";
import { parse } from "yaml";

/** Path of the file that was written. */
export async function kubeconfigThrough(kubeconfig: string, port: number): Promise<string> {
  const config = parse(await readFile(kubeconfig, "utf8")) as { clusters: { cluster: { server: string } }[] };
  for (const { cluster } of config.clusters) {
    const url = new URL(cluster.server);
    url.port = String(port);
    cluster.server = url.origin;
  }
  const path = `${kubeconfig}-${port}`;
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}
