// Asks a replica for every object that says it is Ready: resources, root keys, logins and keys.
// Says what is not served.

import { setTimeout as sleep } from "node:timers/promises";
import type { Kind } from "../../core/manifests/object.ts";
import type { Fleet } from "../support/fleet/fleet.ts";
import type { Reply } from "../support/http/http-client.ts";
import { basic } from "../support/http/projects.ts";
import { apiCall } from "../support/kubernetes/api-server/api-server-call.ts";
import { customResources, readyOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import type { SeenObject } from "./seen-object.ts";

export interface Served {
  readonly asked: number;
  readonly faults: readonly string[];
}

interface Spec {
  readonly projectRef: { readonly name: string };
  readonly resourceName?: string;
  readonly key?: string;
  readonly username?: string;
  readonly expiresAt?: string;
  readonly secretName?: string;
  readonly passwordSecretRef?: { readonly name: string; readonly key: string };
  readonly serving?: string;
}

const laterMs = 5_000;
/** Logins are costly on purpose. */
const maxLogins = 3;

export async function checkServed(fleet: Fleet, namespace: string, objects: readonly SeenObject[]): Promise<Served> {
  const faults: string[] = [];
  let asked = 0;
  for (const object of worthAsking(objects)) {
    const answer = await asks[object.kind](askedOf(fleet, namespace, object));
    if (answer === undefined) continue;
    asked += 1;
    const { reply, expected } = answer;
    if (!expected.includes(reply.status)) faults.push(...(await wrongly(fleet, namespace, object, reply)));
  }
  return { asked, faults };
}

/**
 * What an object says may have been about to change when it was read: only then it is checked
 * against what it says, and serves, later.
 */
async function wrongly(
  fleet: Fleet,
  namespace: string,
  { metadata }: SeenObject,
  reply: Reply,
): Promise<readonly string[]> {
  await sleep(laterMs);
  const now = (await customResources(fleet.api, namespace)) as unknown as readonly SeenObject[];
  const object = worthAsking(now).find(({ metadata: { uid } }) => uid === metadata.uid);
  if (object?.metadata.resourceVersion === metadata.resourceVersion) return [faultOf(object, reply)];
  if (object === undefined) return [];
  const answer = await asks[object.kind](askedOf(fleet, namespace, object));
  return answer === undefined || answer.expected.includes(answer.reply.status) ? [] : [faultOf(object, answer.reply)];
}

function faultOf({ kind, metadata, spec, status }: SeenObject, reply: Reply): string {
  const { managedFields: _, ...rest } = metadata as unknown as Readonly<Record<string, unknown>>;
  const summary = `${kind} ${metadata.name} is Ready and answered with ${reply.status}: ${reply.text.slice(0, 300)}`;
  return `${summary}\n${JSON.stringify({ metadata: rest, spec, status }).slice(0, 3_000)}`;
}

function askedOf(fleet: Fleet, namespace: string, object: SeenObject): Asked {
  return { fleet, namespace, object, spec: object.spec as unknown as Spec };
}

function worthAsking(objects: readonly SeenObject[]): readonly SeenObject[] {
  let logins = 0;
  return objects.filter((object) => {
    if (readyOf(object)?.status !== "True" || isOff(objects, object.spec as unknown as Spec)) return false;
    if (object.kind !== "ProjectUser") return true;
    logins += 1;
    return logins <= maxLogins;
  });
}

interface Asked {
  readonly fleet: Fleet;
  readonly namespace: string;
  readonly object: SeenObject;
  readonly spec: Spec;
}

interface Answered {
  readonly reply: Reply;
  readonly expected: readonly number[];
}

/** Without a credential it depends on the object's access. */
const known: readonly number[] = [200, 401, 403];

const asks: Readonly<Record<Kind, (asked: Asked) => Promise<Answered | undefined>>> = {
  // Its children are asked for.
  Project: async () => undefined,
  async ApiResource({ object, spec, ...where }) {
    const name = spec.resourceName ?? object.metadata.name;
    return { reply: await sent(where, spec, `/api/${name}`), expected: known };
  },
  async RootKey({ object, spec, ...where }) {
    const name = spec.key ?? object.metadata.name;
    return { reply: await sent(where, spec, `/json/${name}`), expected: known };
  },
  async ProjectUser({ object, spec, ...where }) {
    const { name, key } = spec.passwordSecretRef ?? { name: `${object.metadata.name}-password`, key: "password" };
    const password = await entryOf(where, name, key);
    if (password === undefined) return undefined;
    const as = basic(spec.username ?? object.metadata.name, password);
    return { reply: await sent(where, spec, "/sessions", { method: "POST", as }), expected: [201] };
  },
  async ApiKey({ object, spec, ...where }) {
    const key = await entryOf(where, spec.secretName ?? `${object.metadata.name}-api-key`, "apiKey");
    if (key === undefined) return undefined;
    const isExpired = spec.expiresAt !== undefined && Date.parse(spec.expiresAt) < Date.now();
    const as = `apikey ${key}`;
    return { reply: await sent(where, spec, "/sessions", { as }), expected: isExpired ? [401] : [200] };
  },
};

/**
 * A Project whose newest spec is not the one that is served may be switched off, whatever that
 * says.
 */
function isOff(objects: readonly SeenObject[], { projectRef }: Spec): boolean {
  const project = objects.find(({ kind, metadata }) => kind === "Project" && metadata.name === projectRef?.name);
  if (project === undefined || readyOf(project)?.status !== "True") return true;
  return (project.spec as unknown as Spec).serving === "Off";
}

type Where = Pick<Asked, "fleet" | "namespace">;

function sent(where: Where, { projectRef }: Spec, path: string, request = {}): Promise<Reply> {
  const [replica] = where.fleet.replicas;
  if (!replica) throw new Error("The fleet has no replica");
  return replica.send(`/${where.namespace}/${projectRef.name}${path}`, request);
}

async function entryOf({ fleet, namespace }: Where, name: string, entry: string): Promise<string | undefined> {
  const { status, body } = await apiCall(fleet.api, `/api/v1/namespaces/${namespace}/secrets/${name}`);
  const data = body["data"] as Readonly<Record<string, string>> | undefined;
  return status === 200 && data?.[entry] !== undefined ? Buffer.from(data[entry], "base64").toString() : undefined;
}
