// Answers with a page and its files: read once, when somebody first asks, compressed, and served from memory from then on. The page
// names its files with a hash of them, so that browsers keep them for good. Refuses unknown files with 404.

import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import Negotiator from "negotiator";
import { Problem } from "../../core/errors/problem.ts";
import type { PageName } from "../../pages/bundle-page.ts";
import { pageFiles } from "../../pages/page-files.ts";
import { isNotModified, preconditionsOf } from "./conditional-requests.ts";
import type { HttpResponse } from "./exchange.ts";

interface PageRequest {
  /** Absent for the page itself. */
  readonly file: string | undefined;
  /** The request target as it was sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** The same object as long as it is the same: what is made of it is kept by it. */
  readonly addition?: PageAddition | undefined;
}

/** What a page has in addition for one project. */
export interface PageAddition {
  /** At the end of its head. */
  readonly html: string;
  /** Origins that it may send requests to, beside its own. */
  readonly connectTo: readonly string[];
}

export type Page = (request: PageRequest) => Promise<HttpResponse>;

interface Asset {
  readonly bytes: Buffer;
  readonly compressed: Buffer;
  readonly type: string;
  readonly version: string;
}

type Assets = ReadonlyMap<string, Asset>;

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

/** Scripts are the page's files; styles are also those that its packages make as they run. */
function contentSecurityPolicy({ connectTo }: Pick<PageAddition, "connectTo">): string {
  return [
    ...["default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:"],
    ...["font-src 'self'", `connect-src ${["'self'", ...connectTo].join(" ")}`],
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
  ].join("; ");
}

/** Headers of everything that is there for a page. */
export const pageSafety = Object.freeze({
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
});

/** Whether the client is a browser that wants to show something: what others take equally is JSON. */
export function isPageWanted(headers: IncomingHttpHeaders): boolean {
  if (headers.accept === undefined) return false;
  return new Negotiator({ headers }).mediaType(["application/json", "text/html"]) === "text/html";
}

/**
 * `path` is the prefix of the URLs of the page's files, relative to the page: the page at `<base>/docs` has the file `docs/page.js`.
 * `isFolder`: the page's own URL ends with a slash, as `/` does; the URL of other pages doesn't, and is redirected to.
 */
export function createPage(page: PageName, path: string, { isFolder = false } = {}): Page {
  let loading: Promise<Assets> | undefined;
  const load = async (): Promise<Assets> => {
    loading ??= loadAssets(page, path).catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const additions = new WeakMap<PageAddition, Promise<Asset>>();
  const loadHtml = async ({ addition }: PageRequest): Promise<Asset | undefined> => {
    const plain = (await load()).get("page.html");
    if (plain === undefined || addition === undefined) return plain;
    let made = additions.get(addition);
    if (made === undefined) {
      made = withAddition(plain, addition);
      additions.set(addition, made);
    }
    return made;
  };
  return async (request) => {
    const { file, target, headers, addition } = request;
    const [asked = "", query = ""] = target.split("?", 2);
    if (file === undefined && !isFolder && asked.endsWith("/"))
      return { status: 308, headers: { Location: `../${path}` } };
    const asset = file === undefined ? await loadHtml(request) : (await load()).get(file);
    if (asset === undefined || file === "page.html") {
      throw new Problem("unknown_path", "The page has no such file");
    }
    return respondWith(asset, headers, {
      ...pageSafety,
      ...(file === undefined
        ? {
            "Content-Security-Policy": contentSecurityPolicy(addition ?? { connectTo: [] }),
            "Cross-Origin-Opener-Policy": "same-origin",
          }
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

async function loadAssets(page: PageName, path: string): Promise<Assets> {
  const assets = new Map<string, Asset>();
  let html = "";
  for (const [name, bytes] of await pageFiles(page)) {
    if (name === "page.html") html = bytes.toString();
    else assets.set(name, await assetOf(name, bytes));
  }
  for (const [name, { version }] of assets) html = html.replaceAll(`${path}/${name}"`, `${path}/${name}?v=${version}"`);
  return assets.set("page.html", await assetOf("page.html", Buffer.from(html)));
}

function withAddition({ bytes }: Asset, { html }: PageAddition): Promise<Asset> {
  return assetOf("page.html", Buffer.from(bytes.toString().replace("</head>", () => `  ${html}\n  </head>`)));
}

async function assetOf(name: string, bytes: Buffer): Promise<Asset> {
  const type = types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  const version = createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
  return { bytes, compressed: await promisify(gzip)(bytes, { level: 9 }), type, version };
}
