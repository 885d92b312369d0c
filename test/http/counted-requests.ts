// One request of each kind, for counting what it costs: each once and once more, so that the second
// finds everything cached, and each time with something new to do where it writes.

import { type Reply, type SentRequest, send } from "../support/http/http-client.ts";
import {
  apikey,
  basic,
  bearer,
  changed,
  project,
  withConfig,
  withKey,
  withLimits,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";

export interface CountedFixture {
  readonly ids: readonly string[];
  /** An object of the resource whose lists show all. */
  readonly noticeId: string;
  /** An object of the project that has quotas. */
  readonly limitedId: string;
  /** ETags of the objects. */
  readonly tags: readonly string[];
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Of further sessions, which may be ended. */
  readonly sessionIds: readonly string[];
}

/** Of `shop` unless it says otherwise. */
interface ProjectRequest extends SentRequest {
  readonly project?: string;
}

export interface CountedRequest extends ProjectRequest {
  readonly path: string;
  readonly status: number;
}

const admin = apikey("admin");
const owner = apikey("owner");
/** Sent before anything is counted. */
const repeated = {
  path: "/api/books",
  method: "POST",
  headers: { "idempotency-key": "once" },
  body: { title: "Once", price: 1, stock: 1 },
  as: admin,
};
const book = (at: number) => ({ title: `Book ${at}`, price: at, stock: at % 3 });

/** `time` tells the first request from the second, so that each of them changes something. */
export const countedRequests: Readonly<Record<string, (fixture: CountedFixture, time: number) => CountedRequest>> = {
  "get, API key": ({ ids }) => ({ path: `/api/books/${ids[0]}`, as: admin, status: 200 }),
  "get, JWT": ({ ids, accessToken }) => ({ path: `/api/books/${ids[0]}`, as: bearer(accessToken), status: 200 }),
  "get of one's own, API key": ({ ids }) => ({ path: `/api/books/${ids[1]}`, as: owner, status: 200 }),
  "get of an id that there is not": () => ({
    path: "/api/books/01890000-0000-7000-8000-000000000000",
    as: admin,
    status: 404,
  }),
  "get of what the client has": ({ ids, tags }) => ({
    path: `/api/books/${ids[0]}`,
    headers: { "if-none-match": tags[0] ?? "" },
    as: admin,
    status: 304,
  }),
  "a key that there is not": ({ ids }) => ({ path: `/api/books/${ids[0]}`, as: apikey("nobody"), status: 401 }),
  list: () => ({ path: "/api/books", as: admin, status: 200 }),
  "list, sorted": () => ({ path: "/api/books?_sort=-price", as: admin, status: 200 }),
  "list, filtered": () => ({ path: "/api/books?stock=1", as: admin, status: 200 }),
  "list, filtered by a range": () => ({ path: "/api/books?stock:ge=1", as: admin, status: 200 }),
  "list, from a cursor on": () => ({ path: "/api/books?_cursor=&_limit=2", as: admin, status: 200 }),
  "list, chosen fields, without its count": () => ({
    path: "/api/books?_fields=title&_count=false",
    as: admin,
    status: 200,
  }),
  "list, one's own": () => ({ path: "/api/books", as: owner, status: 200 }),
  "list, one's own, sorted": () => ({ path: "/api/books?_sort=title", as: owner, status: 200 }),
  "create, three indexes": (_, time) => ({
    path: "/api/books",
    method: "POST",
    body: book(100 + time),
    as: admin,
    status: 201,
  }),
  "create, three indexes, no list of one's own": (_, time) => ({
    path: "/api/notices",
    method: "POST",
    body: book(100 + time),
    as: admin,
    status: 201,
  }),
  "PUT, one index of three, no list of one's own": ({ noticeId }, time) => ({
    path: `/api/notices/${noticeId}`,
    method: "PUT",
    body: { stock: 1_000 + time },
    as: admin,
    status: 200,
  }),
  "create, three indexes, a unique rule": (_, time) => ({
    path: "/api/editions",
    method: "POST",
    body: book(100 + time),
    as: admin,
    status: 201,
  }),
  "upsert that creates": (_, time) => ({
    path: `/api/editions?title=Upsert%20${time}`,
    method: "PUT",
    body: { price: 1, stock: 1 },
    as: admin,
    status: 201,
  }),
  "create with an Idempotency-Key": (_, time) => ({
    path: "/api/books",
    method: "POST",
    headers: { "idempotency-key": `key-${time}` },
    body: book(200),
    as: admin,
    status: 201,
  }),
  "its repetition": () => ({ ...repeated, status: 201 }),
  "create that its schema refuses": () => ({
    path: "/api/books",
    method: "POST",
    body: { title: 1 },
    as: admin,
    status: 400,
  }),
  "PUT, one index of three": ({ ids }, time) => ({
    path: `/api/books/${ids[2]}`,
    method: "PUT",
    body: { stock: 1_000 + time },
    as: admin,
    status: 200,
  }),
  "PUT under If-Match": ({ ids, tags }, time) => ({
    path: `/api/books/${ids[8 + time]}`,
    method: "PUT",
    headers: { "if-match": tags[8 + time] ?? "" },
    body: { stock: 1_000 },
    as: admin,
    status: 200,
  }),
  "PUT that changes nothing": ({ ids }) => ({
    path: `/api/books/${ids[3]}`,
    method: "PUT",
    body: {},
    as: admin,
    status: 200,
  }),
  "PATCH by a merge patch": ({ ids }, time) => ({
    path: `/api/books/${ids[10]}`,
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ stock: 2_000 + time }),
    as: admin,
    status: 200,
  }),
  "PATCH by a JSON Patch": ({ ids }, time) => ({
    path: `/api/books/${ids[11]}`,
    method: "PATCH",
    headers: { "content-type": "application/json-patch+json" },
    body: JSON.stringify([{ op: "replace", path: "/stock", value: 3_000 + time }]),
    as: admin,
    status: 200,
  }),
  delete: ({ ids }, time) => ({ path: `/api/books/${ids[4 + time]}`, method: "DELETE", as: admin, status: 204 }),
  "key/value get": () => ({ path: "/json/kv/theme/colour", status: 200 }),
  "key/value get, an index in the path": () => ({ path: "/json/kv/list/0", status: 200 }),
  "key/value POST": () => ({ path: "/json/kv/list/-", method: "POST", body: "1", as: admin, status: 201 }),
  "key/value PUT": (_, time) => ({
    path: "/json/kv/theme/colour",
    method: "PUT",
    body: `"#33445${time}"`,
    as: admin,
    status: 200,
  }),
  "key/value PATCH": (_, time) => ({
    path: "/json/kv/theme",
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: JSON.stringify({ size: time }),
    as: admin,
    status: 200,
  }),
  "key/value DELETE": (_, time) => ({ path: `/json/kv/gone/k${time}`, method: "DELETE", as: admin, status: 200 }),
  "key/value POST without a credential": () => ({ path: "/json/open/list/-", method: "POST", body: "1", status: 201 }),
  "create under quotas, three indexes": (_, time) => ({
    project: "limited",
    path: "/api/books",
    method: "POST",
    body: book(100 + time),
    as: admin,
    status: 201,
  }),
  "PUT under quotas, one index of three": ({ limitedId }, time) => ({
    project: "limited",
    path: `/api/books/${limitedId}`,
    method: "PUT",
    body: { stock: 10 ** (3 + time) },
    as: admin,
    status: 200,
  }),
  "key/value PUT under quotas": (_, time) => ({
    project: "limited",
    path: "/json/kv/theme/colour",
    method: "PUT",
    body: `"#33445${time}"`,
    as: admin,
    status: 200,
  }),
  login: () => ({ path: "/sessions", method: "POST", as: basic("ann"), status: 201 }),
  "login with a wrong password": () => ({
    path: "/sessions",
    method: "POST",
    as: basic("ann", "not hers"),
    status: 401,
  }),
  refresh: ({ refreshToken }) => ({ path: "/sessions/refresh", method: "POST", as: bearer(refreshToken), status: 200 }),
  "sessions of the project": () => ({ path: "/sessions", as: admin, status: 200 }),
  "the end of a session": ({ sessionIds }, time) => ({
    path: `/sessions/${sessionIds[time]}`,
    method: "DELETE",
    as: admin,
    status: 204,
  }),
  "the project's OpenAPI": () => ({ path: "/openapi.json", as: admin, status: 200 }),
};

const options = {
  indexes: ["title", "price", "stock"],
  schema: {
    type: "object",
    properties: { title: { type: "string" }, price: { type: "number" }, stock: { type: "integer" } },
  },
} as const;

const ownBooks = project(
  "shop",
  withKey("admin", { role: "Administrators" }),
  withKey("owner"),
  withUser("ann", { role: "Administrators" }),
  withResource("books", options),
  withRootKey("kv", { initialValue: '{"theme":{"colour":"#334455"},"list":[1],"gone":{"k0":0,"k1":1}}' }),
  withRootKey("open", { initialValue: '{"list":[]}', access: { create: "Anyone" } }),
);

export const countedProject = changed(
  ownBooks,
  withResource("notices", { ...options, scope: { read: "All" } }),
  withResource("editions", {
    ...options,
    scope: { read: "All" },
    unique: [{ fields: [{ name: "title", path: ["title"] }] }],
  }),
);

/** Of the project that is counted. */
export function ask(origin: string, path: string, request: ProjectRequest): Promise<Reply> {
  const { project: name = "shop", ...sent } = request;
  return send(origin, `/default/${name}${path}`, sent);
}

/** With every quota, none of them full. */
export const limitedProject = changed(
  ownBooks,
  withConfig({ name: "limited", uid: "limited" }),
  withLimits({ quota: { objects: 1_000, bytes: 1_000_000, documentKeys: 1_000 } }),
);

export async function fillCounted(origin: string): Promise<CountedFixture> {
  const ids: string[] = [];
  const tags: string[] = [];
  for (let at = 0; at < 12; at += 1) {
    const as = at === 1 ? owner : admin;
    const created = await ask(origin, "/api/books", { method: "POST", body: book(at), as });
    requireStatus(created, 201);
    ids.push(created.json<{ id: string }>().id);
    tags.push(created.headers.etag ?? "");
  }
  requireStatus(await ask(origin, repeated.path, repeated), 201);
  const notice = await ask(origin, "/api/notices", { method: "POST", body: book(0), as: admin });
  requireStatus(notice, 201);
  requireStatus(await ask(origin, "/api/editions", { method: "POST", body: book(0), as: admin }), 201);
  // What a value was begun with is stored by its first write.
  for (const path of ["/json/kv/list/-", "/json/open/list/-"]) {
    requireStatus(await ask(origin, path, { method: "POST", body: "2", as: admin }), 201);
  }
  const limited = { project: "limited", as: admin };
  const made = await ask(origin, "/api/books", { ...limited, method: "POST", body: book(0) });
  requireStatus(made, 201);
  requireStatus(await ask(origin, "/json/kv/theme/colour", { ...limited, method: "PUT", body: "1" }), 200);
  const logins: Record<string, string>[] = [];
  for (let at = 0; at < 3; at += 1) {
    logins.push((await ask(origin, "/sessions", { method: "POST", as: basic("ann") })).json<Record<string, string>>());
  }
  const [{ access_token: accessToken = "", refresh_token: refreshToken = "" } = {}, ...others] = logins;
  const limitedId = made.json<{ id: string }>().id;
  return {
    ids,
    noticeId: notice.json<{ id: string }>().id,
    limitedId,
    tags,
    accessToken,
    refreshToken,
    sessionIds: others.map((login) => login["session_id"] ?? ""),
  };
}

function requireStatus({ status, text }: Reply, expected: number): void {
  if (status !== expected) throw new Error(`Something to ask for was answered with ${status}: ${text}`);
}
