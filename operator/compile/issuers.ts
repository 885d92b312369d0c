// Turns the external issuers that a Project names into what the data plane checks tokens by. They
// are decided on their own: an issuer that the platform does not allow, or whose keys can't be had,
// is refused with its place and costs the Project nothing else, and one is served as the spec says
// now, whatever else in the spec is refused. While keys can't be fetched, those that were published
// before stay, and the Project is accepted with a notice.

import { X509Certificate } from "node:crypto";
import type { CompiledProject, IssuerConfig } from "../../core/config/types.ts";
import { plainIssuerUrl } from "../../core/env/issuer-rules.ts";
import { isClusterIssuer } from "../../core/issuers/issuer-kind.ts";
import { readKeySet } from "../../core/issuers/key-set.ts";
import type { IssuerContent, IssuerEndpoints, IssuerSource, IssuersContext } from "../model/issuers.ts";
import type { Project } from "../model/objects.ts";
import type { Fault, Notice } from "../model/verdict.ts";

export type DeclaredIssuer = NonNullable<Project["spec"]["authentication"]["issuers"]>[number];
/** By name. */
type Issuers = CompiledProject["issuers"];
type IsAllowed = IssuersContext["isAllowed"];

export interface RefusedIssuer extends Fault {
  readonly reason: "NotAllowed" | "InvalidSpec" | "IssuerUnreachable" | "WaitingForIssuer";
}

export interface CompiledIssuers {
  readonly issuers: Issuers;
  /** What needs a person comes first. */
  readonly refused: readonly RefusedIssuer[];
  /** Of issuers whose earlier keys still count. */
  readonly notices: readonly Notice[];
}

/** Nothing is known of any issuer yet, and none is allowed: what was published is all there is. */
export const pendingIssuers: IssuersContext = Object.freeze({
  isAllowed: () => false,
  lookUp: () => ({ state: "pending" }) as const,
});

export function compileIssuers(
  project: Project,
  published: CompiledProject | undefined,
  context: IssuersContext,
): CompiledIssuers {
  // By another Project of the same name, an issuer may have been somebody else.
  const own = published?.project.uid === project.metadata.uid ? [...published.issuers.values()] : [];
  const issuers = new Map<string, IssuerConfig>();
  const refused: RefusedIssuer[] = [];
  const notices: Notice[] = [];
  for (const [position, declared] of declaredIn(project).entries()) {
    const found = contentFor(
      declared,
      own.find((config) => isSameIssuer(declared, config)),
      context,
    );
    const place = `/spec/authentication/issuers/${position}`;
    const taken = [...issuers.values()].find(({ url }) => url === found.content?.url);
    if (taken !== undefined) {
      const message = `The issuers "${taken.name}" and "${declared.name}" have the same url`;
      refused.push({ reason: "InvalidSpec", message, pointer: place });
      continue;
    }
    if (found.content !== undefined) issuers.set(declared.name, configOf(declared, found.content));
    if (found.refused !== undefined) refused.push(placed(place, found.refused));
    if (found.notice !== undefined) notices.push(placed(place, found.notice));
  }
  return { issuers, refused: refused.sort((left, right) => rankOf(left) - rankOf(right)), notices };
}

/**
 * Of a suspended Project, whose changes wait: those that are published, as far as the platform
 * allows them and the Project still names them, with the keys that they have by now.
 */
export function suspendedIssuers(project: Project, published: Issuers, { isAllowed, lookUp }: IssuersContext): Issuers {
  const sources = issuerSourcesOf(project, isAllowed);
  const left = [...published].flatMap(([name, config]): (readonly [string, IssuerConfig])[] => {
    const declared = declaredIn(project).find((each) => isSameIssuer(each, config));
    if (declared === undefined || (!isClusterIssuer(config) && !isAllowed(config.url))) return [];
    const source = sources.get(declared.name);
    const known = source && config.keysAreFetched ? lookUp(source) : undefined;
    const isSame = known?.state === "known" && known.content.url === config.url;
    return [[name, isSame ? { ...config, keys: known.content.keys } : config]];
  });
  return new Map(left);
}

/** What has to be fetched for the Project, by the issuer's name. */
export function issuerSourcesOf(project: Project, isAllowed: IsAllowed): ReadonlyMap<string, IssuerSource> {
  const sources = new Map<string, IssuerSource>();
  for (const declared of declaredIn(project)) {
    const { url, jwks, certificateAuthority } = declared.issuer;
    if (url === undefined) sources.set(declared.name, { kind: "cluster" });
    else if (jwks === undefined && urlFault(url, isAllowed) === undefined && !isBadAuthority(certificateAuthority)) {
      sources.set(declared.name, sourceOf(url, certificateAuthority));
    }
  }
  return sources;
}

function declaredIn({ spec }: Project): readonly DeclaredIssuer[] {
  return spec.authentication.issuers ?? [];
}

function isSameIssuer({ issuer: { url } }: DeclaredIssuer, config: IssuerConfig): boolean {
  return url === undefined ? isClusterIssuer(config) : !isClusterIssuer(config) && config.url === url;
}

// -------------------------------------------------------------------------------------- its keys

type Content = IssuerContent & Pick<IssuerConfig, "keysAreFetched">;
/** `pointer` into the issuer. */
type Placed<T extends Fault> = Omit<T, "pointer"> & { readonly pointer: string };

interface FoundContent {
  readonly content?: Content;
  readonly refused?: Placed<RefusedIssuer>;
  readonly notice?: Placed<Notice>;
}

/** `former` is what was published of this very issuer. */
function contentFor(
  declared: DeclaredIssuer,
  former: IssuerConfig | undefined,
  { isAllowed, lookUp }: IssuersContext,
): FoundContent {
  const { url, jwks, certificateAuthority } = declared.issuer;
  if (url === undefined) return fetchedContent(declared, former, { kind: "cluster" }, lookUp);
  const fault = urlFault(url, isAllowed);
  // Nothing of it stays: the platform has decided.
  if (fault !== undefined) return { refused: fault };
  const kept = former && { content: contentOf(former) };
  if (isBadAuthority(certificateAuthority)) {
    const message = "Has no certificate that can be read: PEM certificates are expected, -----BEGIN CERTIFICATE-----";
    const refused = { reason: "InvalidSpec", message, pointer: "/issuer/certificateAuthority" } as const;
    return { ...(wasFetched(former) ? kept : undefined), refused };
  }
  if (jwks === undefined) return fetchedContent(declared, former, sourceOf(url, certificateAuthority), lookUp);
  const set = readKeySet(jwks);
  if (set.ok) return { content: { url, keys: set.keys, keysAreFetched: false } };
  const message = URL.canParse(jwks)
    ? "Takes the keys themselves, as a JSON Web Key Set, and no URL: leave it out, and they are fetched from the issuer"
    : `The key set ${set.fault}`;
  return { ...kept, refused: { reason: "InvalidSpec", message, pointer: "/issuer/jwks" } };
}

function fetchedContent(
  { name }: DeclaredIssuer,
  former: IssuerConfig | undefined,
  source: IssuerSource,
  lookUp: IssuersContext["lookUp"],
): FoundContent {
  const kept = wasFetched(former) && former.keys.length > 0 ? contentOf(former) : undefined;
  const known = lookUp(source);
  switch (known.state) {
    case "assumed":
      return {};
    case "pending":
      return waitingContent(name, source, kept);
    case "unreachable":
      return unreachableContent(name, source, known.failure, kept);
    case "known": {
      const content = { ...known.content, keysAreFetched: true };
      return known.failure === undefined ? { content } : unreachableContent(name, source, known.failure, content);
    }
  }
}

function waitingContent(name: string, source: IssuerSource, kept: Content | undefined): FoundContent {
  if (kept !== undefined) return { content: kept };
  const message = `The keys of the issuer "${name}" are being fetched`;
  return { ...contentWithoutKeys(source), refused: { reason: "WaitingForIssuer", message, pointer: placeOf(source) } };
}

function unreachableContent(
  name: string,
  source: IssuerSource,
  failure: string,
  content: Content | undefined,
): FoundContent {
  const message = `The keys of the issuer "${name}" can't be fetched: ${failure}`;
  const fault = { reason: "IssuerUnreachable", message, pointer: placeOf(source) } as const;
  if (content === undefined) return { ...contentWithoutKeys(source), refused: fault };
  if (content.keys.length === 0) return { content, refused: fault };
  // The Project as it is declared is served then: not to be ready would stop a rollout that nothing
  // is wrong with.
  return { content, notice: { ...fault, message: `${message}. Those that were fetched before still count` } };
}

function placeOf(source: IssuerSource): string {
  return source.kind === "cluster" ? "/kubernetes" : "/issuer/url";
}

/**
 * Keys that were in the manifest went with it: perhaps because one of them is no longer to be
 * trusted.
 */
function wasFetched(former: IssuerConfig | undefined): former is IssuerConfig {
  return former?.keysAreFetched === true;
}

/**
 * An issuer whose keys were never fetched is published all the same: so replicas can say to its
 * callers what is missing, and ask for its keys. This cluster's is not, because its URL is fetched
 * as well.
 */
function contentWithoutKeys(source: IssuerSource): Pick<FoundContent, "content"> {
  return source.kind === "cluster" ? {} : { content: { url: source.url, keys: [], keysAreFetched: true } };
}

function contentOf({ url, keys, keysAreFetched, signIn }: IssuerConfig): Content {
  return { url, keys, keysAreFetched, ...(signIn && { endpoints: endpointsOf(signIn) }) };
}

function endpointsOf({ authorizationEndpoint, tokenEndpoint, alwaysSendsIss }: IssuerEndpoints): IssuerEndpoints {
  return { authorizationEndpoint, tokenEndpoint, alwaysSendsIss };
}

function urlFault(url: string, isAllowed: IsAllowed): Placed<RefusedIssuer> | undefined {
  const pointer = "/issuer/url";
  const plain = plainIssuerUrl(url);
  if (plain !== url) {
    const advice = plain === undefined ? "" : `: write ${plain}`;
    return { reason: "InvalidSpec", message: `Is not a URL in its plain form${advice}`, pointer };
  }
  if (isAllowed(url)) return undefined;
  const message = `The platform does not allow the issuer ${url}: --allowed-issuers of the operator lists those that it does`;
  return { reason: "NotAllowed", message, pointer };
}

function sourceOf(url: string, certificateAuthority: string | undefined): IssuerSource {
  return { kind: "url", url, ...(certificateAuthority !== undefined && { certificateAuthority }) };
}

/** Base64 has no dash: without an end nothing is scanned twice. */
const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Whether there are no certificates in it, or some that can't be read. */
function isBadAuthority(pem: string | undefined): boolean {
  if (pem === undefined) return false;
  const found = pem.match(certificate) ?? [];
  return found.length === 0 || !found.every(canRead);
}

function canRead(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch {
    return false;
  }
}

// ----------------------------------------------------------------------------- what is published

function configOf(declared: DeclaredIssuer, { url, endpoints, keysAreFetched, keys }: Content): IssuerConfig {
  const { name, issuer, claimMappings, claimValidationRules = [], access = "Read" } = declared;
  const { administrators = [], serviceAccounts, clientId, scopes = [] } = declared;
  const canSignIn = clientId !== undefined && endpoints !== undefined;
  return {
    ...{ name, url },
    audiences: issuer.audiences,
    usernameClaim: claimMappings?.username?.claim ?? "sub",
    claimRules: claimValidationRules.map(({ claim, requiredValue }) => ({ claim, requiredValue })),
    access,
    administrators: administrators.map(({ claim, contains }) => ({ claim, contains })),
    ...(serviceAccounts !== undefined && {
      serviceAccounts: serviceAccounts.map((each) => ({
        namespace: each.namespace,
        name: each.name,
        role: each.role,
        access: each.access,
      })),
    }),
    ...{ keysAreFetched, keys },
    ...(canSignIn && { signIn: { clientId, scopes: [...new Set(["openid", ...scopes])], ...endpoints } }),
  };
}

function placed<T extends { readonly pointer: string }>(place: string, fault: T): T {
  return { ...fault, pointer: `${place}${fault.pointer}` };
}

function rankOf({ reason }: RefusedIssuer): number {
  return reason === "IssuerUnreachable" || reason === "WaitingForIssuer" ? 1 : 0;
}
