// What clients reach the service by, in its two parts: an origin, and the path that a proxy has for it beside other services. The path
// may arrive with a request or be stripped by the proxy; links always have it.

export interface PublicAddress {
  /** `https://api.example.org`. */
  readonly origin: string;
  /** Decoded segments, mostly none. */
  readonly path: readonly string[];
}

/** Of a URL without user, query and fragment; of nobody's, while it isn't known yet. */
export function publicAddress(url: string): PublicAddress {
  if (url === "") return { origin: "", path: [] };
  const { origin, pathname } = new URL(url);
  return { origin, path: pathname.split("/").filter(Boolean).map(decodeURIComponent) };
}

/** The segments below the public path, whether or not a request has it. */
export function belowPublicPath({ path }: PublicAddress, segments: readonly string[]): readonly string[] {
  const has = path.length > 0 && path.every((segment, at) => segments[at] === segment);
  return has ? segments.slice(path.length) : segments;
}
