// Writes that wait for the network: sent again until an answer comes, however long that takes, and
// with what is found out where the answer to an earlier attempt was lost.

import type { Client } from "./index.ts";
import { isSame } from "./merge-patch.ts";
import { pause } from "./pause.ts";
import { operationsOf } from "./writes.ts";

export type Fields = { readonly id: string; readonly [name: string]: unknown };
export type UntypedResource = ReturnType<Client["resource"]>;

/** After the client has tried as often as it does. */
const againMs = 1_000;

export interface Write {
  readonly client: Client;
  readonly resource: UntypedResource;
  /** It is refused with 412 unless this is what is stored. */
  readonly seen: Fields;
  readonly signal: AbortSignal;
}

export async function create(resource: UntypedResource, fields: object, signal: AbortSignal): Promise<Fields> {
  return await resource.create({ ...fields }, { signal, retryForMs: Number.POSITIVE_INFINITY });
}

export async function update(write: Write, changes: Readonly<Record<string, unknown>>): Promise<Fields> {
  const { resource, seen } = write;
  const send = () => resource.patch(seen.id, operationsOf(changes), optionsOf(write));
  return await send().catch(async (error: unknown) => {
    const current = await currentAfter(error, write);
    // Sent once more, it is refused for what is stored now.
    const isStored = (stored: Fields) => Object.entries(changes).every(([name, value]) => isSame(stored[name], value));
    return current !== undefined && isStored(current) ? current : await send();
  });
}

export async function remove(write: Write): Promise<void> {
  const { resource, seen } = write;
  const send = () => resource.delete(seen.id, optionsOf(write));
  await send().catch(async (error: unknown) => {
    if ((await currentAfter(error, write)) !== undefined) await send();
  });
}

function optionsOf({ client, seen, signal }: Write) {
  return { ifMatch: client.etagOf(seen), signal, retryForMs: Number.POSITIVE_INFINITY };
}

/** What is stored, if nobody knows whether the write took place; undefined = nothing. */
async function currentAfter(error: unknown, write: Write): Promise<Fields | undefined> {
  const { client, resource, seen, signal } = write;
  if (!client.isProblem(error) || !error.isUncertain) throw error;
  return await resource.get(seen.id, { signal }).catch(async (reason: unknown) => {
    if (client.isProblem(reason, "not_found")) return undefined;
    await pause(againMs, signal);
    return await currentAfter(reason, write);
  });
}
