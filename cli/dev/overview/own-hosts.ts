// Which Host headers are dev mode's own. Pages that name files or show usage refuse others, against
// DNS rebinding: another site's name can resolve to this machine.

import type { IncomingHttpHeaders } from "node:http";
import { hostName } from "../../../dataplane/route/request-target.ts";

export interface HostedRequest {
  /** The host that the client used, as a trusted proxy says. */
  readonly host: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly localAddress?: string | undefined; readonly remoteAddress?: string | undefined };
}

/**
 * Whether the client used one of dev mode's own addresses: a loopback address, the one listened on,
 * the public URL's. Both the Host header and the host that a trusted proxy names must be one of
 * them: a page can send the headers of a proxy, but no other Host than its own.
 */
export function ownHosts(listened: string, publicUrl: string): (request: HostedRequest) => boolean {
  const own = new Set([bracketed(listened), ...(publicUrl === "" ? [] : [new URL(publicUrl).hostname])]);
  return ({ host, headers, socket }) => {
    const here = bracketed(socket.localAddress ?? "");
    return [host, headers.host ?? ""]
      .map(hostName)
      .every((name) => loopback.test(name) || own.has(name) || name === here);
  };
}

/**
 * Whether a program on this machine sent the request to a loopback address. A proxy or a tunnel on
 * this machine does so for strangers, who can forge Host and Origin. So nothing counts as local
 * that a proxy has marked, nor anything where dev mode has a public URL of another name.
 */
export function localRequests(publicUrl: string): (request: HostedRequest) => boolean {
  const isPublic = publicUrl !== "" && !loopback.test(new URL(publicUrl).hostname);
  return ({ host, headers, socket }) =>
    !isPublic &&
    proxyHeaders.every((name) => headers[name] === undefined) &&
    [host, headers.host ?? ""].map(hostName).every((name) => loopback.test(name)) &&
    loopback.test(bracketed(socket.remoteAddress ?? ""));
}

const proxyHeaders = ["forwarded", "x-forwarded-for", "x-forwarded-host", "via"];

/** RFC 6761: names below `localhost` lead to the machine itself. */
const loopback = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** As it stands in a URL. */
function bracketed(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "").toLowerCase();
  return plain.includes(":") ? `[${plain}]` : plain;
}
