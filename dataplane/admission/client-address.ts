// Turns a client's address into the name that its budgets are counted under.

import ipaddr from "ipaddr.js";

/**
 * An IPv4 address, also if it is mapped to IPv6, or an IPv6 /64, which is usually one household.
 * All texts that are no addresses count as one client: made-up ones must not evade a limit.
 */
export function addressGroup(address: string): string {
  const bare = withoutPort(address);
  if (!ipaddr.isValid(bare)) return "unknown";
  const parsed = ipaddr.process(bare);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(":")}::/64`;
}

/** Some proxies write a port into X-Forwarded-For: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(address: string): string {
  const match = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(address);
  return match?.[1] ?? match?.[2] ?? address;
}
