// Turns what a request, its trusted proxies and the public URL say into the origin that links begin
// with, `http(s)://host[:port]`. Refuses with 400 a request without exactly one valid host: it
// selects the project, and is part of links.

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import { Problem } from "../../core/errors/problem.ts";
import type { PublicAddress } from "./find-project.ts";
import { hostName } from "./request-target.ts";

type IsTrustedProxy = (address: string | undefined) => boolean;

/** `networks`: addresses, and networks such as 10.0.0.0/8. Throws for anything else. */
export function trustedProxies(networks: readonly string[]): IsTrustedProxy {
  const trusted = new BlockList();
  for (const network of networks) {
    const [address = "", prefix] = network.split("/");
    if (prefix === undefined) trusted.addAddress(address, familyOf(address));
    else trusted.addSubnet(address, Number(prefix), familyOf(address));
  }
  return (address = "") => isIP(address) !== 0 && trusted.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

/**
 * Leaves of X-Forwarded-Host and X-Forwarded-Proto what counts: nothing of a sender who isn't
 * trusted, and of a list the entry of the outermost trusted proxy. Later readers believe the rest.
 */
export function settleForwarded({ headers, socket }: IncomingMessage, isTrusted: IsTrustedProxy): void {
  const proxies = isTrusted(socket.remoteAddress) ? passedProxies(headers["x-forwarded-for"], isTrusted) : 0;
  const counting = (name: string): string | undefined => {
    const entries = entriesOf(headers[name]);
    return proxies === 0 ? undefined : entries[Math.max(0, entries.length - proxies)];
  };
  headers["x-forwarded-host"] = counting("x-forwarded-host");
  const scheme = counting("x-forwarded-proto")?.toLowerCase();
  headers["x-forwarded-proto"] = scheme === "https" || scheme === "http" ? scheme : undefined;
}

/** The sender is a proxy. The first address of the list is the client's, trusted or not. */
function passedProxies(forwardedFor: IncomingHttpHeaders[string], isTrusted: IsTrustedProxy): number {
  const before = entriesOf(forwardedFor).slice(1).reverse();
  const untrusted = before.findIndex((address) => !isTrusted(address));
  return 1 + (untrusted < 0 ? before.length : untrusted);
}

function entriesOf(list: IncomingHttpHeaders[string]): readonly string[] {
  return String(list ?? "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

const hostPattern = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** The target's authority, Host, or what a trusted proxy says. Empty where it was sent empty. */
export function requireHost({ host, raw }: FastifyRequest): string {
  if (hostPattern.test(host)) return host;
  if (host === "" && (raw.headers.host !== undefined || raw.httpVersion === "1.0")) return host;
  throw new Problem(
    "invalid_request",
    raw.headers["x-forwarded-host"] === undefined
      ? "Send exactly one Host header: a host name with an optional port"
      : "The X-Forwarded-Host of the proxy is not a host name with an optional port",
  );
}

/**
 * The scheme of the public URL counts at its host even if a trusted proxy says http: TLS may have
 * ended before it. At a host that the project claims, a trusted proxy knows better. Any other host
 * is reached directly, unless a trusted proxy says so. The request has passed requireHost.
 */
export function requestOrigin(request: FastifyRequest, address: PublicAddress, isClaimed: boolean): string {
  const { host, headers } = request;
  if (host === "") return address.origin;
  const forwarded = headers["x-forwarded-proto"];
  const isPublic = hostName(host) === address.host;
  if (forwarded !== undefined && !(isPublic && forwarded === "http")) return `${forwarded}://${host}`;
  return `${isPublic || isClaimed ? address.scheme : "http"}://${host}`;
}

/**
 * RFC 9112 §3.2.2: an authority in the request target replaces the Host header. §3.2: a request
 * without exactly one Host header is refused all the same.
 */
export function preferTargetAuthority({ url = "", headers, httpVersion }: IncomingMessage): void {
  if (url.startsWith("/")) return;
  const authority = /^https?:\/\/([^/?#]*)/i.exec(url)?.[1];
  const { host } = headers;
  const isOne = host === undefined ? httpVersion === "1.0" : host === "" || hostPattern.test(host);
  if (authority !== undefined && isOne) headers.host = authority;
}
