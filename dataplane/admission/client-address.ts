// Turns a client's address into the name of those who count as one client: what budgets are kept by.

import ipaddr from "ipaddr.js";

/**
 * An IPv4 address (an IPv4-mapped IPv6 address is one), or an IPv6 /64, which one household usually has whole. All texts that are not
 * addresses are one client, so that made-up ones behind a careless proxy can't get round a limit.
 */
export function addressGroup(address: string): string {
  const bare = withoutPort(address);
  if (!ipaddr.isValid(bare)) return "unknown";
  const parsed = ipaddr.process(bare);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

/** Some proxies write the client's port behind its address in X-Forwarded-For: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(address: string): string {
  const match = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(address);
  return match?.[1] ?? match?.[2] ?? address;
}
