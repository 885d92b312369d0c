// Gets one small document from a URL that whoever writes a Project has chosen. Redirects are not
// followed. Addresses are checked when the connection is made, so that neither an address in the
// URL nor a name that resolves to another one later leads inside. A failure has the status of the
// response and nothing else of it: its text could show the writer of a Project what only the
// operator can reach.

import { type LookupAddress, lookup as resolve } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Agent, request } from "undici";
import { type AddressRules, hostIn } from "./address-rules.ts";

export interface FetchOptions {
  readonly rules: AddressRules;
  /** PEM certificates that the server's has to come from, in place of public ones. */
  readonly certificateAuthority: string | undefined;
  /** Aborted with the reason that its caller wants to see. */
  readonly signal: AbortSignal;
}

export interface FetchedText {
  readonly text: string;
  readonly cacheControl: string | undefined;
}

/**
 * `message` is a clause about the issuer, such as "it answered with status 404", with words of ours
 * only.
 */
export class FetchFailure extends Error {
  override readonly name = "FetchFailure";
  /**
   * What was found, perhaps in the issuer's words. Never in a status: its readers may be unable to
   * reach the issuer.
   */
  readonly detail: string | undefined;

  constructor(message: string, { detail, ...options }: ErrorOptions & { readonly detail?: string } = {}) {
    super(message, options);
    this.detail = detail;
  }
}

export const maxBytes = 256 * 1024;

export async function fetchText(url: URL, options: FetchOptions): Promise<FetchedText> {
  const { rules, certificateAuthority, signal } = options;
  signal.throwIfAborted();
  if (!rules.mayFetch(url)) throw new FetchFailure(`it is not at a URL that begins with ${rules.schemes}`);
  // A connection to an address asks for no name, and so for no check of what the name stands for.
  if (isIP(hostIn(url)) !== 0 && !rules.mayConnectTo(hostIn(url))) throw refusedAddress();
  // One for each request: what was checked when its connection was made holds for all that it
  // carries.
  const dispatcher = createAgent(rules, certificateAuthority);
  try {
    const headers = { accept: "application/json", "accept-encoding": "identity", "user-agent": "jsonplane" };
    const response = await request(url, { dispatcher, signal, headers });
    if (response.statusCode !== 200) throw new FetchFailure(statusClause(response.statusCode));
    const bytes = await response.body.arrayBuffer();
    // An answer that ends with its connection looks complete when giving up has ended it.
    signal.throwIfAborted();
    return { text: utf8Text(bytes), cacheControl: response.headers["cache-control"]?.toString() };
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof FetchFailure ? error : new FetchFailure(clauseOf(error), { cause: error });
  } finally {
    await dispatcher.destroy();
  }
}

function createAgent(rules: AddressRules, ca: string | undefined): Agent {
  // Certificates are verified whatever the environment says.
  const connect = { lookup: lookupBy(rules), rejectUnauthorized: true, ...(ca !== undefined && { ca }) };
  return new Agent({ allowH2: false, maxResponseSize: maxBytes, connect });
}

/**
 * Refuses a name as soon as one of its addresses is refused: which of them would be tried is
 * chance.
 */
export function lookupBy(rules: AddressRules, resolveName: typeof resolve = resolve): LookupFunction {
  return (name, options, done) =>
    resolveName(name, { ...options, all: true }, (error, addresses: readonly LookupAddress[] = []) => {
      const failure = error ?? faultOf(addresses, rules);
      const [first] = addresses;
      if (failure !== undefined || first === undefined) done(failure ?? null, "");
      else if (options.all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
}

function faultOf(addresses: readonly LookupAddress[], rules: AddressRules): FetchFailure | undefined {
  if (addresses.length === 0) return new FetchFailure(unresolved);
  return addresses.every(({ address }) => rules.mayConnectTo(address)) ? undefined : refusedAddress();
}

function utf8Text(bytes: ArrayBuffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new FetchFailure("it answered with something else than UTF-8 text", { cause });
  }
}

function statusClause(status: number): string {
  const isRedirect = status >= 300 && status < 400;
  return isRedirect
    ? `it answered with a redirect (status ${status}), which is not followed`
    : `it answered with status ${status}`;
}

function refusedAddress(): FetchFailure {
  return new FetchFailure(
    "its host is at an address that nothing is fetched from, such as a loopback or link-local one",
  );
}

const unresolved = "its host name can't be resolved";

/**
 * Codes are of Node, OpenSSL and undici. A name that is not resolved, a certificate that is not
 * trusted and an answer that is too long have clauses of their own, because somebody has to correct
 * them. Connections that are refused, reset or broken share one, which does not say which ports are
 * open.
 */
function clauseOf(error: unknown): string {
  const code = String((error as { readonly code?: unknown }).code ?? "");
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return `it answered with more than ${maxBytes / 1024} KiB`;
  if (["ENOTFOUND", "EAI_AGAIN", "ENODATA", "EAI_FAIL"].includes(code)) return unresolved;
  const isCertificate = /^(CERT_|UNABLE_TO_|ERR_TLS_CERT)|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)/.test(
    code,
  );
  return isCertificate ? `its certificate is not trusted (${code})` : "no connection to it could be made, or it broke";
}
