// Which addresses keys of external issuers may be fetched from, and how often. Whoever writes a
// Project chooses the URL, and the name in it may lead anywhere: never to the operator's own
// machine, to what only its link can reach, or to the metadata service of a cloud, which gives
// credentials away. Private networks are allowed, because a platform's own provider is often there;
// the list of allowed issuers decides about those.

import { BlockList, isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { betweenFetchesMs } from "../../core/config/wanted-keys.ts";

export interface AddressRules {
  /** `address` is an IP address. */
  mayConnectTo(address: string): boolean;
  /** Whether the URL may be fetched, before its name is resolved. */
  mayFetch(url: URL): boolean;
  /** How such a URL begins, for people. */
  readonly schemes: string;
}

const refused = blockList([
  ...(["0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4"] as const),
  // Metadata services of clouds outside of the link-local range: Alibaba, Azure, Oracle.
  ...(["100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32"] as const),
  ...(["::/127", "fe80::/10", "fec0::/10", "ff00::/8"] as const),
  // Of AWS, Google Cloud and Oracle.
  ...(["fd00:ec2::/32", "fd20:ce::254/128", "fd00:c1::a9fe:a9fe/128"] as const),
  // Ways from IPv6 to any IPv4 address: NAT64 of a site (RFC 8215), whose form a site chooses, and
  // Teredo.
  ...(["64:ff9b:1::/48", "2001::/32"] as const),
]);
const loopback = blockList(["127.0.0.0/8", "::1/128"]);

/** What an operator in a cluster may fetch. */
export const clusterAddresses: AddressRules = {
  mayConnectTo: (address) => isIP(address) !== 0 && !isListed(refused, address),
  mayFetch: ({ protocol }) => protocol === "https:",
  schemes: "https://",
};

/**
 * Dev mode fetches from this machine as well, there without TLS, too: for providers that a
 * developer runs.
 */
export const devAddresses: AddressRules = {
  mayConnectTo: (address) => clusterAddresses.mayConnectTo(address) || isLoopback(address),
  mayFetch: (url) => url.protocol === "https:" || (url.protocol === "http:" && isLoopbackHost(url)),
  schemes: "https://, or with http:// on this machine",
};

/** A host that a URL has, without the brackets of IPv6. */
export function hostIn({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function isLoopbackHost(url: URL): boolean {
  const host = hostIn(url);
  return host === "localhost" || (isIP(host) !== 0 && isLoopback(host));
}

/**
 * Only as it is written: what a gateway makes of an IPv6 address that stands for another one leaves
 * this machine.
 */
function isLoopback(address: string): boolean {
  return loopback.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

function isListed(list: BlockList, address: string): boolean {
  const [bare = ""] = address.split("%");
  if (isIP(bare) === 4) return list.check(bare, "ipv4");
  const inner = embeddedAddress(bare);
  return list.check(bare, "ipv6") || (inner !== undefined && list.check(inner, "ipv4"));
}

/**
 * The IPv4 address that an IPv6 one stands for: mapped, compatible, translated (NAT64), 6to4, or
 * ISATAP (RFC 5214).
 */
function embeddedAddress(address: string): string | undefined {
  const groups = ipaddr.IPv6.parse(address).parts;
  const before = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(":");
  if (groups[0] === 0x2002) return dotted(groups[1], groups[2]);
  const isOfIsatap = groups[5] === 0x5efe && (groups[4] === 0 || groups[4] === 0x200);
  if (isOfIsatap) return dotted(groups[6], groups[7]);
  const isEmbedding = ["0:0:0:0:0:ffff", "0:0:0:0:0:0", "0:0:0:0:ffff:0", "64:ff9b:0:0:0:0"].includes(before);
  return isEmbedding ? dotted(groups[6], groups[7]) : undefined;
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
}

/**
 * Chosen by the program that fetches: an operator in a cluster, or dev mode. No setting changes it,
 * so that nobody lets Projects reach the operator's own machine by a mistake. Tests run the
 * operator with others: their issuers are on this machine.
 */
export interface FetchLimits {
  readonly addresses: AddressRules;
  /** Milliseconds from the beginning of a fetch in which a wanted key causes no other. */
  readonly refetchAfterMs: number;
}

export const clusterLimits: FetchLimits = Object.freeze({
  addresses: clusterAddresses,
  refetchAfterMs: betweenFetchesMs,
});

/**
 * A provider on a developer's machine has new keys whenever it starts, and the only one who sends
 * tokens is the developer.
 */
export const devLimits: FetchLimits = Object.freeze({ addresses: devAddresses, refetchAfterMs: 5_000 });
