// Turns the external issuers that a Project names into what the data plane checks tokens by. An issuer that the platform does not allow, or whose
// keys can't be had, is refused with its place, and costs the Project nothing else. While keys can't be fetched, those that were published
// before stay.

import { X509Certificate } from "node:crypto";
import type { IssuerConfig, IssuerKey, ProjectParts } from "../../core/config/types.ts";
import { plainIssuerUrl } from "../../core/env/issuer-rules.ts";
import { readKeySet } from "../issuers/key-set.ts";
import type { IssuerContent, IssuerEndpoints, IssuerSource, IssuersContext, KnownIssuer } from "../model/issuers.ts";
import type { Project } from "../model/objects.ts";
import type { Fault } from "../model/verdict.ts";

export interface RefusedIssuer extends Fault {
  readonly reason: "NotAllowed" | "InvalidSpec" | "IssuerUnreachable" | "WaitingForIssuer";
}

export interface CompiledIssuers {
  /** By name. */
  readonly issuers: ReadonlyMap<string, IssuerConfig>;
  /** What needs a person comes first. */
  readonly refused: readonly RefusedIssuer[];
  /** The keys of some are being fetched for the first time: in a moment more is known of them. */
  readonly isPending: boolean;
}

type Declared = NonNullable<Project["spec"]["authentication"]["issuers"]>[number];

export const noIssuers: IssuersContext = Object.freeze({
  isAllowed: () => false,
  lookUp: () => ({ state: "pending" }) as const,
});

export function compileIssuers(
  project: Project,
  published: ProjectParts | undefined,
  context: IssuersContext,
): CompiledIssuers {
  const issuers = new Map<string, IssuerConfig>();
  const refused: RefusedIssuer[] = [];
  let isPending = false;
  for (const [position, declared] of declaredIn(project).entries()) {
    const former = formerOf(project, declared, published);
    const keys = keysFor(declared, { ...context, former });
    const taken = [...issuers.values()].find(({ url }) => url === keys.content?.url);
    if (taken !== undefined) {
      const message = `The issuers "${taken.name}" and "${declared.name}" have the same url`;
      refused.push({ reason: "InvalidSpec", message, pointer: pointerTo(position, "") });
      continue;
    }
    if (keys.content !== undefined) issuers.set(declared.name, configOf(declared, keys.content));
    if (keys.refused !== undefined) refused.push({ ...keys.refused, pointer: pointerTo(position, keys.refused.at) });
    isPending ||= keys.isPending === true;
  }
  return { issuers, refused: refused.sort((left, right) => rankOf(left) - rankOf(right)), isPending };
}

/** What is to be fetched for the Project, by the issuer's name. */
export function issuerSourcesOf(
  project: Project,
  isAllowed: IssuersContext["isAllowed"],
): ReadonlyMap<string, IssuerSource> {
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

/**
 * Of what was published: the issuers that the Project still names, and that the platform still allows. Whoever is no longer let in stays out,
 * whatever else keeps a newer version from being served.
 */
export function stillNamed(
  project: Project,
  published: ProjectParts["issuers"],
  isAllowed: IssuersContext["isAllowed"],
): ProjectParts["issuers"] {
  const names = new Map(declaredIn(project).map((declared) => [declared.name, declared]));
  return new Map(
    [...stillAllowed(published, isAllowed)].filter(([name, config]) => {
      const declared = names.get(name);
      return declared !== undefined && isSameIssuer(declared, config);
    }),
  );
}

export function stillAllowed(
  published: ProjectParts["issuers"],
  isAllowed: IssuersContext["isAllowed"],
): ProjectParts["issuers"] {
  return new Map([...published].filter(([, config]) => isOfCluster(config) || isAllowed(config.url)));
}

/**
 * The same issuers with the keys that they have by now: new keys are no change of the Project, and what waits for one must not go on
 * trusting keys that an issuer has given up.
 */
export function withNewestKeys(
  project: Project,
  published: ProjectParts["issuers"],
  { isAllowed, lookUp }: IssuersContext,
): ProjectParts["issuers"] {
  const sources = issuerSourcesOf(project, isAllowed);
  const newest = ([name, config]: readonly [string, IssuerConfig]): readonly [string, IssuerConfig] => {
    const source = sources.get(name);
    const known = source && config.keysAreFetched ? lookUp(source) : undefined;
    const isSame = known?.state === "known" && known.content.url === config.url;
    return [name, isSame ? { ...config, keys: known.content.keys } : config];
  };
  return new Map([...published].map(newest));
}

interface KeysFor {
  readonly content?: IssuerContent & Pick<IssuerConfig, "keysAreFetched">;
  readonly refused?: Omit<RefusedIssuer, "pointer"> & { readonly at: string };
  readonly isPending?: true;
}

interface Lookup extends IssuersContext {
  /** What was published of this very issuer. */
  readonly former: IssuerConfig | undefined;
}

function keysFor(declared: Declared, lookup: Lookup): KeysFor {
  const { url, jwks, certificateAuthority } = declared.issuer;
  const kept = lookup.former && { content: contentOf(lookup.former) };
  if (url === undefined) return fetchedKeys(declared, { kind: "cluster" }, lookup);
  const fault = urlFault(url, lookup.isAllowed);
  // Nothing of it stays: the platform has decided.
  if (fault !== undefined) return { refused: { ...fault, at: "/issuer/url" } };
  if (isBadAuthority(certificateAuthority)) {
    const message = "Has no certificate that can be read: PEM certificates are expected, -----BEGIN CERTIFICATE-----";
    return { ...kept, refused: { reason: "InvalidSpec", message, at: "/issuer/certificateAuthority" } };
  }
  if (jwks === undefined) return fetchedKeys(declared, sourceOf(url, certificateAuthority), lookup);
  const set = readKeySet(jwks);
  if (set.ok) return { content: { url, keys: set.keys, keysAreFetched: false } };
  return { ...kept, refused: { reason: "InvalidSpec", message: `The key set ${set.fault}`, at: "/issuer/jwks" } };
}

function fetchedKeys(declared: Declared, source: IssuerSource, { former, lookUp }: Lookup): KeysFor {
  // Keys that were in the manifest went with it: perhaps because one of them is no longer to be trusted.
  const kept = former?.keysAreFetched === true ? { content: contentOf(former) } : undefined;
  const known: KnownIssuer = lookUp(source);
  const at = source.kind === "cluster" ? "/kubernetes" : "/issuer/url";
  const unreachable = (failure: string): KeysFor["refused"] => {
    const message = `The keys of the issuer "${declared.name}" can't be fetched: ${failure}`;
    return { reason: "IssuerUnreachable", message, at };
  };
  const waiting: KeysFor["refused"] = {
    reason: "WaitingForIssuer",
    message: `The keys of the issuer "${declared.name}" are being fetched`,
    at,
  };
  switch (known.state) {
    case "known": {
      const refused = known.failure === undefined ? {} : { refused: unreachable(known.failure) };
      return { content: { ...known.content, keysAreFetched: true }, ...refused } as KeysFor;
    }
    case "pending":
      return kept === undefined ? { refused: waiting, isPending: true } : { ...kept, isPending: true };
    case "overdue":
      return { ...kept, refused: waiting };
    case "unreachable":
      return { ...kept, refused: unreachable(known.failure) } as KeysFor;
    case "assumed":
      return {};
  }
}

function configOf(declared: Declared, content: NonNullable<KeysFor["content"]>): IssuerConfig {
  const { name, issuer, claimMappings, claimValidationRules = [], clientId, access = "Read" } = declared;
  const { administrators = [], serviceAccounts, scopes = [] } = declared;
  const { endpoints } = content;
  return {
    name,
    url: content.url,
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
    keysAreFetched: content.keysAreFetched,
    keys: content.keys,
    ...(clientId !== undefined &&
      endpoints !== undefined && { signIn: { clientId, scopes: [...new Set(["openid", ...scopes])], ...endpoints } }),
  };
}

function contentOf({ url, keys, keysAreFetched, signIn }: IssuerConfig): NonNullable<KeysFor["content"]> {
  return { url, keys: keys as readonly IssuerKey[], keysAreFetched, ...(signIn && { endpoints: endpointsOf(signIn) }) };
}

function endpointsOf({ authorizationEndpoint, tokenEndpoint, namesItself }: IssuerEndpoints): IssuerEndpoints {
  return { authorizationEndpoint, tokenEndpoint, namesItself };
}

function declaredIn({ spec }: Project): readonly Declared[] {
  return spec.authentication.issuers ?? [];
}

/** By another Project of the same name, an issuer may have been somebody else. */
function formerOf(
  { metadata }: Project,
  declared: Declared,
  published: ProjectParts | undefined,
): IssuerConfig | undefined {
  if (published?.project.uid !== metadata.uid) return undefined;
  return [...published.issuers.values()].find((config) => isSameIssuer(declared, config));
}

function isSameIssuer({ issuer: { url } }: Declared, config: IssuerConfig): boolean {
  return url === undefined ? isOfCluster(config) : !isOfCluster(config) && config.url === url;
}

function isOfCluster({ serviceAccounts }: IssuerConfig): boolean {
  return serviceAccounts !== undefined;
}

function urlFault(
  url: string,
  isAllowed: IssuersContext["isAllowed"],
): Pick<RefusedIssuer, "reason" | "message"> | undefined {
  const plain = plainIssuerUrl(url);
  if (plain !== url) {
    const advice = plain === undefined ? "" : `: write ${plain}`;
    return { reason: "InvalidSpec", message: `Is not a URL in its plain form${advice}` };
  }
  if (isAllowed(url)) return undefined;
  const message = `The platform does not allow the issuer ${url}: --allowed-issuers of the operator lists those that it does`;
  return { reason: "NotAllowed", message };
}

function sourceOf(url: string, certificateAuthority: string | undefined): IssuerSource {
  return { kind: "url", url, ...(certificateAuthority !== undefined && { certificateAuthority }) };
}

const certificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

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

function pointerTo(position: number, below: string): string {
  return `/spec/authentication/issuers/${position}${below}`;
}

function rankOf({ reason }: RefusedIssuer): number {
  return reason === "IssuerUnreachable" || reason === "WaitingForIssuer" ? 1 : 0;
}
