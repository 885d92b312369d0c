// Serves a page and its files from memory, which are read at its first request. What a build has
// not compressed is compressed then. URLs of files contain a hash, so that browsers keep them for
// good. Refuses unknown files with 404.

import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import Negotiator from "negotiator";
import { Problem } from "../../core/errors/problem.ts";
import type { PageName } from "../../pages/bundle-page.ts";
import { compressed, pageFiles } from "../../pages/page-files.ts";
import { isNotModified, preconditionsOf } from "./conditional-requests.ts";
import type { HttpResponse } from "./exchange.ts";

interface PageRequest {
  /** Absent for the page itself. */
  readonly file: string | undefined;
  /** The request target as it was sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  /** Compared by identity: what is made of it is cached. */
  readonly addition?: PageAddition | undefined;
}

/** What a page has in addition, for one project. */
export interface PageAddition {
  /** At the end of its head. */
  readonly html: string;
  /** Origins that it may send requests to, in addition to its own. */
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

/** Headers of all responses of pages. */
export const pageSafety = Object.freeze({
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
});

/** Whether a browser wants to show something. Others, also those without a preference, get JSON. */
export function isPageWanted(headers: IncomingHttpHeaders): boolean {
  if (headers.accept === undefined) return false;
  return new Negotiator({ headers }).mediaType(["application/json", "text/html"]) === "text/html";
}

/**
 * `path` = the prefix of the URLs of its files, relative to the page: the page `<base>/docs` has
 * the file `docs/page.js`. `isFolder` = its own URL ends with a slash, as `/` does; others are
 * redirected to theirs.
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
  // RFC 9110 §12.5.3 allows any encoding without the header, but such clients may read none.
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
  const files = await pageFiles(page);
  for (const [name, bytes] of files) {
    if (name.endsWith(".gz")) continue;
    if (name === "page.html") html = bytes.toString();
    else assets.set(name, await assetOf(name, bytes, files.get(`${name}.gz`)));
  }
  for (const [name, { version }] of assets) html = html.replaceAll(`${path}/${name}"`, `${path}/${name}?v=${version}"`);
  return assets.set("page.html", await assetOf("page.html", Buffer.from(html)));
}

function withAddition({ bytes }: Asset, { html }: PageAddition): Promise<Asset> {
  return assetOf("page.html", Buffer.from(bytes.toString().replace("</head>", () => `  ${html}\n  </head>`)));
}

async function assetOf(name: string, bytes: Buffer, built?: Buffer): Promise<Asset> {
  const type = types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  const version = createHash("sha256").update(bytes).digest("base64url").slice(0, 16);
  return { bytes, compressed: built ?? (await compressed(bytes)), type, version };
}
