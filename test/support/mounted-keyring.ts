// The fleet's key ring as a file that follows its Secret, as the kubelet's mounts do.

import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestApiServer } from "./api-server.ts";
import { eventually } from "./eventually.ts";

export interface MountedKeyring {
  readonly file: string;
  /** Stops following and removes the file. */
  stop(): Promise<void>;
}

const lookMilliseconds = 2_000;

/** Waits until the operator has made the Secret. */
export async function mountKeyring(api: TestApiServer, namespace: string): Promise<MountedKeyring> {
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-keyring-"));
  const file = join(dir, "keyring.json");
  let written = "";
  const look = async (): Promise<void> => {
    const path = "jsonpath={.data.keyring\\.json}";
    const encoded = await api.kubectl(["get", "secret", "jsonplane-keyring", "--namespace", namespace, "-o", path]);
    if (encoded === written) return;
    await writeFile(`${file}.new`, Buffer.from(encoded, "base64"), { mode: 0o600 });
    await rename(`${file}.new`, file);
    written = encoded;
  };
  await eventually(look, { withinMs: 30_000 });
  // A look that fails is made up for by the next.
  const following = setInterval(() => void look().catch(() => undefined), lookMilliseconds);
  return {
    file,
    async stop() {
      clearInterval(following);
      await rm(dir, { recursive: true, force: true });
    },
  };
}
