// Answers with the reference page and its files: read once, when somebody first asks, compressed, and served from memory from then on.
// The page names its files with a hash of them, so that browsers keep them for good. Refuses unknown files with 404.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import Fastify from "fastify";
import Negotiator from "negotiator";
import { Problem } from "../../core/errors/problem.ts";
import { isNotModified, preconditionsOf } from "../http/conditional-requests.ts";
import type { HttpResponse } from "../http/response.ts";

export interface PageRequest {
  /** Absent for the page itself. */
  readonly file: string | undefined;
  /** The request target as it was sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

export type ReferencePage = (request: PageRequest) => Promise<HttpResponse>;

interface Asset {
  readonly bytes: Buffer;
  readonly compressed: Buffer;
  readonly type: string;
  readonly version: string;
}

const files = [
  { name: "page.css", type: "text/css; charset=utf-8" },
  { name: "page.js", type: "text/javascript; charset=utf-8" },
  { name: "viewer.js", type: "text/javascript; charset=utf-8" },
] as const;

/** Scripts are the three files; styles are the viewer's own, which it makes as it runs. */
const contentSecurityPolicy = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:"],
  ...["font-src 'self'", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
].join("; ");

const safety = Object.freeze({
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
});

export function createReferencePage(): ReferencePage {
  let loading: Promise<ReadonlyMap<string, Asset>> | undefined;
  const load = async (): Promise<ReadonlyMap<string, Asset>> => {
    loading ??= loadAssets().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  return async ({ file, target, headers }) => {
    const [path = "", query = ""] = target.split("?", 2);
    if (file === undefined && path.endsWith("/")) return { status: 308, headers: { Location: "../docs" } };
    const asset = (await load()).get(file ?? "page.html");
    if (asset === undefined || file === "page.html") {
      throw new Problem("unknown_path", "The reference page has no such file");
    }
    return respondWith(asset, headers, {
      ...safety,
      ...(file === undefined
        ? { "Content-Security-Policy": contentSecurityPolicy, "Cross-Origin-Opener-Policy": "same-origin" }
        : query === `v=${asset.version}` && { "Cache-Control": "public, max-age=31536000, immutable" }),
    });
  };
}

function respondWith(
  asset: Asset,
  headers: PageRequest["headers"],
  own: Readonly<Record<string, string>>,
): HttpResponse {
  // Without the header any encoding may be sent (RFC 9110 §12.5.3); the plain one is what such clients can read.
  const isCompressed =
    headers["accept-encoding"] !== undefined && new Negotiator({ headers }).encoding(["gzip", "identity"]) === "gzip";
  const tag = `"${asset.version}${isCompressed ? "-gzip" : ""}"`;
  const common = { ...own, ETag: tag, Vary: "Accept-Encoding, Origin" };
  if (isNotModified(preconditionsOf(headers), tag)) return { status: 304, headers: common };
  const { type, bytes, compressed } = asset;
  if (!isCompressed) return { status: 200, file: { type, bytes }, headers: common };
  return { status: 200, file: { type, bytes: compressed }, headers: { ...common, "Content-Encoding": "gzip" } };
}

async function loadAssets(): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>();
  for (const { name, type } of files) {
    const bytes =
      name === "viewer.js" ? await viewerScript() : await readFile(new URL(`files/${name}`, import.meta.url));
    assets.set(name, await assetOf(bytes, type));
  }
  let html = await readFile(new URL("files/page.html", import.meta.url), "utf8");
  for (const [name, { version }] of assets) html = html.replaceAll(`docs/${name}"`, `docs/${name}?v=${version}"`);
  return assets.set("page.html", await assetOf(Buffer.from(html), "text/html; charset=utf-8"));
}

async function assetOf(bytes: Buffer, type: string): Promise<Asset> {
  const version = createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
  return { bytes, compressed: await promisify(gzip)(bytes, { level: 9 }), type, version };
}

const built = new URL("files/viewer.js", import.meta.url);

/**
 * The script that shows an OpenAPI document: Scalar's, as its package for fastify serves it. A build has it as a file; out of a clone it is
 * taken from the package, by the way that the package offers it.
 */
async function viewerScript(): Promise<Buffer> {
  try {
    return await readFile(built);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    return await viewerOfPackage();
  }
}

/** What a build writes. */
export async function viewerOfPackage(): Promise<Buffer> {
  const { default: plugin } = await import("@scalar/fastify-api-reference");
  const app = Fastify();
  await app.register(plugin, { routePrefix: "/reference", configuration: { content: { openapi: "3.1.0" } } });
  const { statusCode, rawPayload } = await app.inject("/reference/js/scalar.js");
  await app.close();
  if (statusCode !== 200) throw new Error("The viewer's package does not serve its script");
  return rawPayload;
}
