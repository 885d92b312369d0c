// Turns the external issuers that a Project names into what the data plane checks tokens by. An issuer that the platform does not allow, or whose
// keys can't be had, is refused with its place, and costs the Project nothing else. While keys can't be fetched, those that were published
// before stay, and the Project is accepted with a notice.

import type { IssuerConfig, ProjectParts } from "../../core/config/types.ts";
import { readKeySet } from "../../core/issuers/key-set.ts";
import type { IssuerContent, IssuerEndpoints, IssuerSource, IssuersContext, KnownIssuer } from "../model/issuers.ts";
import type { Project } from "../model/objects.ts";
import type { Fault, Notice } from "../model/verdict.ts";
import {
  type DeclaredIssuer,
  declaredIn,
  isBadAuthority,
  isSameIssuer,
  sourceOf,
  termsOf,
  urlFault,
} from "./declared-issuers.ts";

export interface RefusedIssuer extends Fault {
  readonly reason: "NotAllowed" | "InvalidSpec" | "IssuerUnreachable" | "WaitingForIssuer";
}

export interface CompiledIssuers {
  /** By name. */
  readonly issuers: ReadonlyMap<string, IssuerConfig>;
  /** What needs a person comes first. */
  readonly refused: readonly RefusedIssuer[];
  /** Of issuers whose keys of before still count. */
  readonly notices: readonly Notice[];
  /** The keys of some are being fetched for the first time: in a moment more is known of them. */
  readonly isPending: boolean;
}

/** Nothing is known of any issuer yet, and none is allowed: what was published is all there is. */
export const pendingIssuers: IssuersContext = Object.freeze({
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
  const notices: Notice[] = [];
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
    if (keys.refused !== undefined) refused.push(atPlace(position, keys.refused));
    if (keys.notice !== undefined) notices.push(atPlace(position, keys.notice));
    isPending ||= keys.isPending === true;
  }
  return { issuers, refused: refused.sort((left, right) => rankOf(left) - rankOf(right)), notices, isPending };
}

/** `at` is a pointer into the issuer. */
type Placed<T extends Fault> = Omit<T, "pointer"> & { readonly at: string };

interface KeysFor {
  readonly content?: IssuerContent & Pick<IssuerConfig, "keysAreFetched">;
  readonly refused?: Placed<RefusedIssuer>;
  readonly notice?: Placed<Notice>;
  readonly isPending?: true;
}

interface Lookup extends IssuersContext {
  /** What was published of this very issuer. */
  readonly former: IssuerConfig | undefined;
}

function keysFor(declared: DeclaredIssuer, lookup: Lookup): KeysFor {
  const { url, jwks, certificateAuthority } = declared.issuer;
  const { former } = lookup;
  const kept = former && { content: contentOf(former) };
  if (url === undefined) return fetchedKeys(declared, { kind: "cluster" }, lookup);
  const fault = urlFault(url, lookup.isAllowed);
  // Nothing of it stays: the platform has decided.
  if (fault !== undefined) return { refused: { ...fault, at: "/issuer/url" } };
  if (isBadAuthority(certificateAuthority)) {
    const message = "Has no certificate that can be read: PEM certificates are expected, -----BEGIN CERTIFICATE-----";
    const refused = { reason: "InvalidSpec", message, at: "/issuer/certificateAuthority" } as const;
    return { ...(wasFetched(former) ? kept : undefined), refused };
  }
  if (jwks === undefined) return fetchedKeys(declared, sourceOf(url, certificateAuthority), lookup);
  const set = readKeySet(jwks);
  if (set.ok) return { content: { url, keys: set.keys, keysAreFetched: false } };
  const message = URL.canParse(jwks)
    ? "Takes the keys themselves, as a JSON Web Key Set, and no URL: leave it out, and they are fetched from the issuer"
    : `The key set ${set.fault}`;
  return { ...kept, refused: { reason: "InvalidSpec", message, at: "/issuer/jwks" } };
}

function fetchedKeys(declared: DeclaredIssuer, source: IssuerSource, { former, lookUp }: Lookup): KeysFor {
  const kept = wasFetched(former) && former.keys.length > 0 ? { content: contentOf(former) } : undefined;
  const withoutKeys = contentWithoutKeys(source);
  const known: KnownIssuer = lookUp(source);
  const at = source.kind === "cluster" ? "/kubernetes" : "/issuer/url";
  const unreachable = (failure: string): Placed<Notice> & { readonly reason: "IssuerUnreachable" } => {
    const message = `The keys of the issuer "${declared.name}" can't be fetched: ${failure}`;
    return { reason: "IssuerUnreachable", message, at };
  };
  // The Project as it is declared is served then: not to be ready would stop a rollout that nothing is wrong with.
  const stillUsed = (failure: string): Pick<KeysFor, "notice"> => {
    const fault = unreachable(failure);
    return { notice: { ...fault, message: `${fault.message}. Those that were fetched before still count` } };
  };
  const waiting: Placed<RefusedIssuer> = {
    reason: "WaitingForIssuer",
    message: `The keys of the issuer "${declared.name}" are being fetched`,
    at,
  };
  switch (known.state) {
    case "known": {
      const content = { ...known.content, keysAreFetched: true };
      if (known.failure === undefined) return { content };
      return {
        content,
        ...(content.keys.length === 0 ? { refused: unreachable(known.failure) } : stillUsed(known.failure)),
      };
    }
    case "pending":
      return { ...(kept ?? { ...withoutKeys, refused: waiting }), isPending: true };
    case "overdue":
      return kept ?? { ...withoutKeys, refused: waiting };
    case "unreachable":
      return kept === undefined
        ? { ...withoutKeys, refused: unreachable(known.failure) }
        : { ...kept, ...stillUsed(known.failure) };
    case "assumed":
      return {};
  }
}

/** Keys that were in the manifest went with it: perhaps because one of them is no longer to be trusted. */
function wasFetched(former: IssuerConfig | undefined): former is IssuerConfig {
  return former?.keysAreFetched === true;
}

/**
 * An issuer whose keys were never fetched is published all the same: so replicas tell its callers what is lacking, and ask for its keys. This
 * cluster's is not, because its URL is fetched as well.
 */
function contentWithoutKeys(source: IssuerSource): Pick<KeysFor, "content"> {
  return source.kind === "cluster" ? {} : { content: { url: source.url, keys: [], keysAreFetched: true } };
}

function configOf(declared: DeclaredIssuer, content: NonNullable<KeysFor["content"]>): IssuerConfig {
  const { name, clientId, scopes = [] } = declared;
  const { url, endpoints, keysAreFetched, keys } = content;
  const canSignIn = clientId !== undefined && endpoints !== undefined;
  return {
    ...{ name, url },
    ...termsOf(declared),
    ...{ keysAreFetched, keys },
    ...(canSignIn && { signIn: { clientId, scopes: [...new Set(["openid", ...scopes])], ...endpoints } }),
  };
}

function contentOf({ url, keys, keysAreFetched, signIn }: IssuerConfig): NonNullable<KeysFor["content"]> {
  return { url, keys, keysAreFetched, ...(signIn && { endpoints: endpointsOf(signIn) }) };
}

function endpointsOf({ authorizationEndpoint, tokenEndpoint, alwaysSendsIss }: IssuerEndpoints): IssuerEndpoints {
  return { authorizationEndpoint, tokenEndpoint, alwaysSendsIss };
}

/** By another Project of the same name, an issuer may have been somebody else. */
function formerOf(
  { metadata }: Project,
  declared: DeclaredIssuer,
  published: ProjectParts | undefined,
): IssuerConfig | undefined {
  if (published?.project.uid !== metadata.uid) return undefined;
  return [...published.issuers.values()].find((config) => isSameIssuer(declared, config));
}

function atPlace<T extends { readonly at: string }>(
  position: number,
  { at, ...fault }: T,
): Omit<T, "at"> & { readonly pointer: string } {
  return { ...fault, pointer: pointerTo(position, at) };
}

function pointerTo(position: number, below: string): string {
  return `/spec/authentication/issuers/${position}${below}`;
}

function rankOf({ reason }: RefusedIssuer): number {
  return reason === "IssuerUnreachable" || reason === "WaitingForIssuer" ? 1 : 0;
}
