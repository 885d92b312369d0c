// Requests that cost the event loop the most for what they send, and mostly are refused: what a
// hostile tenant may do to its neighbours (neighbours.ts). Each is the text that goes over the
// connection.

import type { Plane } from "./stage.ts";
import { catalogueText } from "./subjects.ts";

export interface CostlyRequest {
  readonly name: string;
  /** Expected, as is 503 where too many wait. */
  readonly statuses: readonly string[];
  /** Absent = 24. */
  readonly connections?: number;
  /** It is one long command of Redis. */
  readonly isOneCommand?: boolean;
  bytes(plane: Plane): Buffer;
}

/** Below the default limit of 1 MiB. */
const bodyBytes = 900_000;
const body = catalogueText(bodyBytes);
/** Its last token is wrong. */
const wrongBody = `${body.slice(0, -1)}]`;
/** With the rest of the request line below the limit of 32 KiB. */
const queryBytes = 28 * 1024;

const unknownParameters = Array.from({ length: 4_000 }, (_, at) => `x${at}=1`).join("&");
const deepFields = Array.from({ length: 100 }, (_, at) => `blurb.${"a.".repeat(60)}${at}`).join(",");

export const costlyRequests: readonly CostlyRequest[] = [
  {
    name: "objects of 0.9 MB whose last token is wrong",
    statuses: ["400"],
    bytes: (plane) => raw(plane, "POST", "/api/catalogues", wrongBody),
  },
  {
    name: "values of 0.9 MB",
    statuses: ["200", "201"],
    isOneCommand: true,
    bytes: (plane) => raw(plane, "PUT", "/json/kv/large", body),
  },
  {
    name: "objects of 0.9 MB that the schema refuses",
    statuses: ["400"],
    bytes: (plane) => raw(plane, "POST", "/api/catalogues", body.replace(/"price":\d+/g, '"price":"-"')),
  },
  {
    name: "28 KiB of unknown parameters",
    statuses: ["400"],
    bytes: (plane) => raw(plane, "GET", `/api/books?${unknownParameters.slice(0, queryBytes)}`),
  },
  {
    name: "100 deep names in `_fields`",
    statuses: ["200"],
    bytes: (plane) => raw(plane, "GET", `/api/books?_limit=10&_fields=${deepFields}`),
  },
  {
    name: "paths of 3,900 segments",
    statuses: ["404", "414"],
    bytes: (plane) => raw(plane, "GET", `/json/kv${"/a".repeat(3_900)}`),
  },
  {
    name: "a project that isn't there",
    connections: 3_000,
    statuses: ["404"],
    bytes: (plane) => raw({ ...plane, admin: "", base: `${plane.base}-none` }, "GET", "/api/books"),
  },
  {
    name: "an OpenAPI document of 0.3 MB",
    statuses: ["200"],
    bytes: (plane) => raw(plane, "GET", "/openapi.json"),
  },
  {
    name: "tokens with an unknown key id",
    statuses: ["401"],
    bytes: (plane) => raw({ ...plane, admin: `bearer ${withUnknownKey(plane.external ?? "")}` }, "GET", "/api/books"),
  },
];

function raw({ base, admin }: Plane, method: string, path: string, text = ""): Buffer {
  const { host, pathname } = new URL(base);
  const authorization = admin === "" || admin.includes(" ") ? admin : `apikey ${admin}`;
  const lines = [
    `${method} ${pathname}${path} HTTP/1.1`,
    `Host: ${host}`,
    ...(authorization === "" ? [] : [`Authorization: ${authorization}`]),
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${text}`);
}

function withUnknownKey(token: string): string {
  const [, ...rest] = token.split(".");
  const header = JSON.stringify({ alg: "ES256", kid: "k".repeat(4_000) });
  return [Buffer.from(header).toString("base64url"), ...rest].join(".");
}
