// What a Project's spec says of its external issuers: who they are, whom they let in, and where their keys come from.

import { X509Certificate } from "node:crypto";
import type { IssuerConfig, ProjectParts } from "../../core/config/types.ts";
import { plainIssuerUrl } from "../../core/env/issuer-rules.ts";
import { isClusterIssuer } from "../../core/issuers/issuer-kind.ts";
import type { IssuerSource, IssuersContext } from "../model/issuers.ts";
import type { Project } from "../model/objects.ts";

export type DeclaredIssuer = NonNullable<Project["spec"]["authentication"]["issuers"]>[number];

/** Which tokens of an issuer count, and what their callers may do. */
export type IssuerTerms = Pick<
  IssuerConfig,
  "audiences" | "usernameClaim" | "claimRules" | "access" | "administrators" | "serviceAccounts"
>;

export function declaredIn({ spec }: Project): readonly DeclaredIssuer[] {
  return spec.authentication.issuers ?? [];
}

export function termsOf(declared: DeclaredIssuer): IssuerTerms {
  const { issuer, claimMappings, claimValidationRules = [], access = "Read" } = declared;
  const { administrators = [], serviceAccounts } = declared;
  return {
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
  };
}

/** What is to be fetched for the Project, by the issuer's name: of a suspended one for the issuers that are served, whatever it names by now. */
export function sourcesToFetch(
  project: Project,
  published: ProjectParts | undefined,
  isAllowed: IssuersContext["isAllowed"],
): ReadonlyMap<string, IssuerSource> {
  if (!project.spec.suspend) return issuerSourcesOf(project, isAllowed);
  const isSameProject = published?.project.uid === project.metadata.uid;
  return isSameProject ? servedSources(project, published.issuers, isAllowed) : new Map();
}

/** Where the keys of published issuers come from. Of the present spec is taken how to reach an issuer that it still names. */
export function servedSources(
  project: Project,
  published: ProjectParts["issuers"],
  isAllowed: IssuersContext["isAllowed"],
): ReadonlyMap<string, IssuerSource> {
  const declared = issuerSourcesOf(project, isAllowed);
  const sourceOfServed = (config: IssuerConfig): IssuerSource | undefined => {
    if (isClusterIssuer(config)) return { kind: "cluster" };
    const same = declaredIn(project).find((each) => isSameIssuer(each, config));
    return declared.get(same?.name ?? "") ?? (isAllowed(config.url) ? sourceOf(config.url, undefined) : undefined);
  };
  const sources = new Map<string, IssuerSource>();
  for (const config of published.values()) {
    const source = config.keysAreFetched ? sourceOfServed(config) : undefined;
    if (source !== undefined) sources.set(config.name, source);
  }
  return sources;
}

/** What the Project's spec has to be fetched for. */
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

/** Those that are published already: a Project that the platform's rules refuse causes no other fetch. */
export function publishedSources(
  sources: ReadonlyMap<string, IssuerSource>,
  published: ProjectParts["issuers"] | undefined,
): ReadonlyMap<string, IssuerSource> {
  const isPublished = ([name, source]: readonly [string, IssuerSource]): boolean => {
    const config = published?.get(name);
    if (config === undefined) return false;
    return source.kind === "cluster" ? isClusterIssuer(config) : config.url === source.url;
  };
  return new Map([...sources].filter(isPublished));
}

export function isSameIssuer({ issuer: { url } }: DeclaredIssuer, config: IssuerConfig): boolean {
  return url === undefined ? isClusterIssuer(config) : !isClusterIssuer(config) && config.url === url;
}

export interface UrlFault {
  readonly reason: "InvalidSpec" | "NotAllowed";
  readonly message: string;
}

export function urlFault(url: string, isAllowed: IssuersContext["isAllowed"]): UrlFault | undefined {
  const plain = plainIssuerUrl(url);
  if (plain !== url) {
    const advice = plain === undefined ? "" : `: write ${plain}`;
    return { reason: "InvalidSpec", message: `Is not a URL in its plain form${advice}` };
  }
  if (isAllowed(url)) return undefined;
  const message = `The platform does not allow the issuer ${url}: --allowed-issuers of the operator lists those that it does`;
  return { reason: "NotAllowed", message };
}

export function sourceOf(url: string, certificateAuthority: string | undefined): IssuerSource {
  return { kind: "url", url, ...(certificateAuthority !== undefined && { certificateAuthority }) };
}

/** Base64 has no dash: without an end nothing is looked at twice. */
const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Whether there are no certificates in it, or some that can't be read. */
export function isBadAuthority(pem: string | undefined): boolean {
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
