// The fleet's key ring as a file that follows its Secret, as the kubelet's mounts do. Both ways of
// having it wait for the operator, which makes the Secret a moment after its start.

import { randomUUID } from "node:crypto";
import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiTarget, apiObject } from "../kubernetes/api-server/api-server-call.ts";
import { eventually } from "../time/eventually.ts";

export interface MountedKeyring {
  readonly file: string;
  /** Stops following and removes the file. */
  stop(): Promise<void>;
}

const lookMilliseconds = 2_000;
/** For an operator that starts on a busy machine. */
const patience = { withinMs: 90_000 };

/**
 * Writes the ring as it is now into the file, in one step; waits until the operator has made the
 * Secret.
 */
export async function writeKeyring(api: ApiTarget, namespace: string, file: string): Promise<void> {
  await replaceFile(file, await eventually(() => encodedKeyring(api, namespace), patience));
}

/** Waits until the operator has made the Secret. */
export async function mountKeyring(api: ApiTarget, namespace: string): Promise<MountedKeyring> {
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-keyring-"));
  const file = join(dir, "keyring.json");
  let written = await eventually(() => encodedKeyring(api, namespace), patience);
  await replaceFile(file, written);
  const look = async (): Promise<void> => {
    const encoded = await encodedKeyring(api, namespace);
    if (encoded === written) return;
    await replaceFile(file, encoded);
    written = encoded;
  };
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

async function encodedKeyring(api: ApiTarget, namespace: string): Promise<string> {
  const { data } = await apiObject(api, `/api/v1/namespaces/${namespace}/secrets/jsonplane-keyring`);
  const encoded = (data as Readonly<Record<string, string>> | undefined)?.["keyring.json"];
  if (encoded === undefined) throw new Error("The Secret jsonplane-keyring has no entry keyring.json");
  return encoded;
}

async function replaceFile(file: string, encoded: string): Promise<void> {
  const draft = `${file}-${randomUUID()}`;
  await writeFile(draft, Buffer.from(encoded, "base64"), { mode: 0o600 });
  await rename(draft, file);
}
