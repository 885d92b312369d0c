// The host name of a Host header, as `spec.hosts` is compared with it.

/** Lower case, without the port; empty when there is none. */
export function hostName(host: string | undefined): string {
  if (!host) return "";
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  return name.toLowerCase();
}
