// Which external issuers Projects may name, from the setting `allowed-issuers`: one URL such as
// `https://login.example.org/realms/main`, all of a host or below a path with `/*` at the end, all
// hosts below a domain with `https://*.example.org/*` (without `/*` only issuers without a path),
// and `*` for every https issuer. Refuses rules that could never match an issuer, and rules that
// match more than their writer meant.

import { InvalidSetting } from "./read-settings.ts";
import { listOf } from "./setting-readers.ts";

export type IssuerRule = "any" | IssuerPattern;

interface IssuerPattern {
  /** In lower case; with `*.` before it, every host below it and not itself. */
  readonly host: string;
  /** As a URL writes it: empty for the port of https. */
  readonly port: string;
  /** Empty, or begins with `/`. */
  readonly path: string;
  /** Whether the path is only the beginning; it ends in `/` then. */
  readonly isPrefix: boolean;
}

export function readIssuerRules(text: string): readonly IssuerRule[] {
  return listOf(text).map(readRule);
}

/** False for every URL that is not https, or not in the form in which it is fetched. */
export function isIssuerAllowed(rules: readonly IssuerRule[], url: string): boolean {
  if (plainIssuerUrl(url) !== url || !url.startsWith("https://")) return false;
  const { hostname, port } = new URL(url);
  const path = url.slice(new URL(url).origin.length);
  return rules.some((rule) => rule === "any" || matches(rule, { hostname, port, path }));
}

/**
 * How the URL has to be written so that nothing is hidden in it: no `..`, no upper case in the
 * host, no number in place of an address. Undefined when it is not a URL. The issuer's trailing
 * slash stays, because `iss` is compared exactly.
 */
export function plainIssuerUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { href, pathname } = new URL(url);
  const hasPath = pathname !== "/" || url.endsWith("/");
  return hasPath ? href : href.slice(0, -1);
}

interface IssuerPlace {
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
}

/**
 * Some servers read these as `..` or as a slash: escaped once or twice, in overlong UTF-8, or with
 * path parameters (RFC 3986, section 3.3), as in `/..;/`.
 */
const otherWay = /%(2e|2f|5c|25|c0|c1)|\/\.{1,2};/i;

function matches(pattern: IssuerPattern, { hostname, port, path }: IssuerPlace): boolean {
  if (port !== pattern.port || !isHostOf(pattern.host, hostname)) return false;
  if (!pattern.isPrefix) return path === pattern.path;
  if (pattern.path === "/" && path === "") return true;
  return path.startsWith(pattern.path) && !otherWay.test(path);
}

function isHostOf(host: string, hostname: string): boolean {
  return host.startsWith("*.") ? hostname.endsWith(host.slice(1)) : hostname === host;
}

const anyHost = "*.";
const domain = /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;

function readRule(entry: string): IssuerRule {
  if (entry === "*") return "any";
  const quoted = JSON.stringify(entry);
  const found = /^https:\/\/(\*\.)?([^/*]+)(\/[^*]*)?(\*)?$/.exec(entry);
  if (found === null) {
    throw new InvalidSetting(
      `must list issuers such as https://login.example.org/realms/main, https://login.example.org/*, https://*.example.org/* or *; ${quoted} is none`,
    );
  }
  const [, wildcard = "", authority = "", path = "", star] = found;
  const isPrefix = star !== undefined;
  if (isPrefix && !path.endsWith("/")) {
    throw new InvalidSetting(
      `must end a beginning of URLs with /*, so that it can't match other names; ${quoted} does not`,
    );
  }
  const bare = `https://${authority}${path}`;
  if (plainIssuerUrl(bare) !== bare || /[?#@]/.test(bare)) {
    const plain = plainIssuerUrl(bare);
    const advice = plain === undefined || /[?#@]/.test(plain) ? "" : `: write ${JSON.stringify(plain)}`;
    throw new InvalidSetting(`must list plain URLs without user, query or fragment; ${quoted} is none${advice}`);
  }
  const { hostname, port } = new URL(bare);
  if (wildcard === anyHost && !domain.test(hostname)) {
    throw new InvalidSetting(`must name a domain such as example.org after "*."; ${quoted} does not`);
  }
  return { host: `${wildcard}${hostname}`, port, path, isPrefix };
}
