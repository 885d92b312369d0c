// An API server in this process, for faults that a real one can't be asked for: list pages at one
// revision, watches with bookmarks, 410 below the compaction, optimistic concurrency, server-side
// apply for one owner. It checks no schema, no rights.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { kinds } from "../../../core/manifests/object.ts";
import { customTypes } from "../../../operator/kube/objects.ts";
import { type FakeRequest, type Fault, type FaultPlan, noFaults } from "./fake-api-faults.ts";
import { FakeApiObjects, keyOf, Refused, type StoredObject } from "./fake-api-objects.ts";
import { streamWatch } from "./fake-api-watch.ts";

export interface FakeApiServer {
  readonly url: string;
  /** Changes and looks past the wire. */
  readonly objects: FakeApiObjects;
  /** Every request, in order of arrival. */
  readonly requests: readonly FakeRequest[];
  /** TCP connections accepted so far. */
  connections(): number;
  /** Requests that have no complete answer yet, watches included. */
  open(): number;
  setFaults(plan: FaultPlan): void;
  /** Cuts all connections, those that hang too. */
  cut(): void;
  close(): Promise<void>;
}

export interface FakeApiOptions {
  /** 60 s by default, as a real server has it. */
  readonly bookmarkMs?: number;
  /** A watch's timeoutSeconds last this many milliseconds each; 1000 by default. */
  readonly secondMs?: number;
  /** Where to listen; any free port by default. */
  readonly port?: number;
  /** The objects of a server that was there before. */
  readonly objects?: FakeApiObjects;
}

interface Served {
  readonly objects: FakeApiObjects;
  readonly snapshots: Map<string, Snapshot>;
  readonly bookmarkMs: number;
  readonly secondMs: number;
}

interface Snapshot {
  readonly revision: number;
  readonly items: readonly StoredObject[];
}

/** With the definitions of the five kinds. */
function definedObjects(): FakeApiObjects {
  const objects = new FakeApiObjects();
  for (const kind of kinds) {
    const name = `${customTypes[kind].plural}.${customTypes[kind].group}`;
    objects.create("apiextensions.k8s.io/customresourcedefinitions", { metadata: { name } });
  }
  return objects;
}

export async function startFakeApiServer(options: FakeApiOptions = {}): Promise<FakeApiServer> {
  const served: Served = {
    objects: options.objects ?? definedObjects(),
    snapshots: new Map(),
    bookmarkMs: options.bookmarkMs ?? 60_000,
    secondMs: options.secondMs ?? 1_000,
  };
  const requests: FakeRequest[] = [];
  let plan = noFaults;
  let connections = 0;
  let open = 0;
  const server = createServer((request, response) => {
    const asked = understood(request);
    requests.push(asked);
    open += 1;
    response.on("close", () => {
      open -= 1;
    });
    void answer(served, { asked, request, response, fault: plan(asked) });
  });
  server.keepAliveTimeout = 600_000;
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((listening) => server.listen(options.port ?? 0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects: served.objects,
    requests,
    connections: () => connections,
    open: () => open,
    setFaults(next) {
      plan = next;
    },
    cut: () => server.closeAllConnections(),
    close: () => closed(server),
  };
}

function closed(server: Server): Promise<void> {
  return new Promise((done) => {
    server.close(() => done());
    server.closeAllConnections();
  });
}

interface Exchange {
  readonly asked: FakeRequest;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly fault: Fault | undefined;
}

async function answer(served: Served, exchange: Exchange): Promise<void> {
  const { request, response, fault } = exchange;
  const body = await bodyOf(request);
  if (body === undefined || fault?.kind === "hang") return;
  if (fault?.kind === "slow") await new Promise((resume) => setTimeout(resume, fault.milliseconds));
  if (fault?.kind === "reset") response.socket?.resetAndDestroy();
  else conclude(served, exchange, body);
}

function conclude(served: Served, exchange: Exchange, body: Given): void {
  const { response, fault } = exchange;
  try {
    if (fault?.kind === "status") throw new Refused(fault.code, fault.reason, `${fault.reason}, says the fault plan`);
    const result = perform(served, exchange, body);
    if (result === undefined) return;
    if (fault?.kind === "resetAfter") response.socket?.resetAndDestroy();
    else send(response, exchange.asked.verb === "create" ? 201 : 200, result);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refuse(response, error, fault);
  }
}

/** Undefined when the client went away meanwhile: nobody waits for an answer then. */
async function bodyOf(request: IncomingMessage): Promise<Given | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? {} : (JSON.parse(text) as Given);
}

function refuse(response: ServerResponse, { code, reason, message }: Refused, fault: Fault | undefined): void {
  if (fault?.kind === "status" && fault.retryAfterSeconds !== undefined) {
    response.setHeader("retry-after", String(fault.retryAfterSeconds));
  }
  send(response, code, { kind: "Status", apiVersion: "v1", status: "Failure", message, reason, code });
}

function send(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

type Given = { readonly [member: string]: unknown };

/** The body of the answer; undefined when a stream took the response over. */
function perform(served: Served, exchange: Exchange, body: Given): unknown {
  const { asked } = exchange;
  const { collection, namespace, name } = asked;
  const shown = showing(asked);
  switch (asked.verb) {
    case "list":
      return listed(served, asked);
    case "watch":
      watched(served, exchange);
      return undefined;
    case "get": {
      const found = served.objects.get(collection, namespace, name);
      if (found === undefined) throw new Refused(404, "NotFound", `${collection} "${name}" not found`);
      return shown(found);
    }
    case "create":
      return shown(served.objects.create(collection, named(body, asked)));
    case "replace":
      return shown(served.objects.replace(collection, named(body, asked)));
    case "apply":
      return shown(served.objects.apply(collection, named(body, asked), pathOf(asked.target).subresource));
    case "delete": {
      const preconditions = (body["preconditions"] ?? {}) as { uid?: string; resourceVersion?: string };
      return shown(served.objects.remove(collection, namespace, name, preconditions));
    }
    default:
      throw new Refused(405, "MethodNotAllowed", "no such verb here");
  }
}

/** The path rules over what the body says about its place. */
function named(body: Given, { namespace, name }: FakeRequest): Given {
  const metadata = (body["metadata"] ?? {}) as Given;
  return { ...body, metadata: { ...metadata, ...(namespace !== "" && { namespace }), ...(name !== "" && { name }) } };
}

function listed({ objects, snapshots }: Served, asked: FakeRequest): unknown {
  const query = queryOf(asked.target);
  const limit = Number(query.get("limit") ?? 0) || Number.POSITIVE_INFINITY;
  const token = query.get("continue");
  const [id = "", start = "0"] = token?.split(".") ?? [];
  const snapshot = token === null ? { revision: objects.revision, items: matching(objects, asked) } : snapshots.get(id);
  if (snapshot === undefined || (token !== null && snapshot.revision < objects.compacted)) {
    throw new Refused(410, "Expired", "The provided continue parameter is too old");
  }
  const from = Number(start);
  const items = snapshot.items.slice(from, from + limit);
  const further = from + limit < snapshot.items.length;
  const key = token === null ? `s${snapshots.size}` : id;
  if (further) snapshots.set(key, snapshot);
  return {
    kind: "List",
    apiVersion: "v1",
    metadata: { resourceVersion: String(snapshot.revision), ...(further && { continue: `${key}.${from + limit}` }) },
    items: items.map(showing(asked)),
  };
}

function watched(served: Served, { asked, response, fault }: Exchange): void {
  const query = queryOf(asked.target);
  streamWatch(served.objects, response, {
    part: { collection: asked.collection, matches: selecting(asked), shown: showing(asked) },
    from: Number(query.get("resourceVersion") ?? 0),
    bookmarks: query.get("allowWatchBookmarks") === "true",
    times: {
      bookmarkMs: served.bookmarkMs,
      timeoutMs: Number(query.get("timeoutSeconds") ?? 1_800) * served.secondMs,
    },
    fault,
  });
}

function matching(objects: FakeApiObjects, asked: FakeRequest): readonly StoredObject[] {
  return objects.all(asked.collection).filter(selecting(asked));
}

/** Namespace and `labelSelector` (`a=b`, `a`, joined by commas). */
function selecting(asked: FakeRequest): (object: StoredObject | undefined) => boolean {
  const query = queryOf(asked.target);
  const terms = (query.get("labelSelector") ?? "").split(",").filter((term) => term !== "");
  return (object) => {
    if (object === undefined) return false;
    const { metadata } = object;
    if (asked.namespace !== "" && metadata.namespace !== asked.namespace) return false;
    return terms.every((term) => {
      const [label = "", value] = term.split("=");
      const has = metadata.labels?.[label];
      return value === undefined ? has !== undefined : has === value;
    });
  };
}

function showing({ accept }: FakeRequest): (object: StoredObject) => unknown {
  if (!accept.includes("as=PartialObjectMetadata")) return (object) => object;
  return ({ metadata }) => ({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata });
}

function understood(request: IncomingMessage): FakeRequest {
  const target = request.url ?? "/";
  const path = pathOf(target);
  return {
    ...path,
    verb: verbOf(request.method ?? "", path.name, queryOf(target)),
    target,
    accept: request.headers.accept ?? "",
    authorization: request.headers.authorization,
  };
}

function verbOf(method: string, name: string, query: URLSearchParams): string {
  if (method === "GET" && query.get("watch") !== null) return "watch";
  if (method === "GET") return name === "" ? "list" : "get";
  return { POST: "create", PUT: "replace", PATCH: "apply", DELETE: "delete" }[method] ?? method;
}

interface Path {
  readonly collection: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string | undefined;
}

function pathOf(target: string): Path {
  const parts = (target.split("?")[0] ?? "")
    .split("/")
    .filter((part) => part !== "")
    .map(decodeURIComponent);
  const group = parts[0] === "apis" ? (parts[1] ?? "") : "";
  const rest = parts.slice(parts[0] === "apis" ? 3 : 2);
  const inside = rest[0] === "namespaces" && rest.length > 2;
  const [plural = "", name = "", subresource] = inside ? rest.slice(2) : rest;
  return { collection: `${group}/${plural}`, namespace: inside ? (rest[1] ?? "") : "", name, subresource };
}

function queryOf(target: string): URLSearchParams {
  return new URLSearchParams(target.split("?")[1] ?? "");
}

/** Keys of the stored objects of one collection, for comparisons. */
export function storedKeys(server: FakeApiServer, collection: string): readonly string[] {
  return server.objects.all(collection).map(keyOf);
}
