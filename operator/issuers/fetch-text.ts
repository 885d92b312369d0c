// Gets one small document from a URL that whoever writes a Project has chosen. Redirects are not followed, addresses are checked when the
// connection is made, so that neither an address in the URL nor a name that resolves to another one later leads inside, and nothing of
// what comes back but its status is in a failure: its text could tell the writer of a Project what only the operator can reach.

import type { LookupAddress } from "node:dns";
import { lookup as resolve } from "node:dns";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { type AddressRules, hostIn } from "./address-rules.ts";

export interface FetchOptions {
  readonly rules: AddressRules;
  /** PEM certificates that the server's has to come from, in place of public ones. */
  readonly certificateAuthority: string | undefined;
  /** Aborted with the reason that its caller wants to see. */
  readonly signal: AbortSignal;
  /** Told what is asked for before anything is sent. */
  readonly onAsking?: ((url: URL) => void) | undefined;
  /** Told of the resolution of a name, which can't be stopped, and takes a thread of the process meanwhile. */
  readonly onResolving?: ((ended: Promise<void>) => void) | undefined;
}

export interface FetchedText {
  readonly text: string;
  readonly cacheControl: string | undefined;
}

/** `message` is a clause about the issuer, such as "it answered with status 404", with words of ours only. */
export class FetchFailure extends Error {
  override readonly name = "FetchFailure";
  /** The request and what was found, perhaps in the issuer's words. Statuses never contain it: their readers may be unable to reach the issuer. */
  readonly detail: string | undefined;

  constructor(message: string, { detail, ...options }: ErrorOptions & { readonly detail?: string } = {}) {
    super(message, options);
    this.detail = detail;
  }
}

/** Resolved names, for tests of what becomes of their addresses. */
export type Resolve = typeof resolve;

export const maxBytes = 256 * 1024;

export async function fetchText(url: URL, options: FetchOptions): Promise<FetchedText> {
  const { rules, signal, onAsking } = options;
  signal.throwIfAborted();
  if (!rules.mayFetch(url)) throw new FetchFailure(`it is not at a URL that begins with ${rules.schemes}`);
  // A connection to an address asks for no name, and so for no check of what the name stands for.
  if (isIP(hostIn(url)) !== 0 && !rules.mayConnectTo(hostIn(url))) throw refusedAddress();
  onAsking?.(url);
  try {
    const response = await respond(url, options);
    const { statusCode = 0, headers } = response;
    if (statusCode !== 200) {
      response.destroy();
      throw new FetchFailure(statusClause(statusCode));
    }
    const text = await textOf(response);
    // An answer that ends with its connection looks complete when giving up has ended it.
    signal.throwIfAborted();
    return { text, cacheControl: headers["cache-control"] };
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof FetchFailure ? error : new FetchFailure(clauseOf(error), { cause: error });
  }
}

function respond(
  url: URL,
  { rules, certificateAuthority, signal, onResolving }: FetchOptions,
): Promise<IncomingMessage> {
  return new Promise((answered, failed) => {
    const options = {
      // One connection for one request: what was checked when it was made holds for all that it carries.
      agent: false as const,
      lookup: lookupBy(rules, { onResolving }),
      headers: { accept: "application/json", "accept-encoding": "identity", "user-agent": "jsonplane" },
      signal,
      // Whatever the environment says.
      rejectUnauthorized: true,
    };
    const request: ClientRequest =
      url.protocol === "https:"
        ? httpsRequest(url, { ...options, ...(certificateAuthority !== undefined && { ca: certificateAuthority }) })
        : httpRequest(url, options);
    request.once("response", answered);
    // Another protocol (status 101) is never asked for. Without a listener, neither an answer nor an error would come.
    request.once("upgrade", (response, socket) => {
      socket.destroy();
      answered(response);
    });
    request.on("error", failed);
    request.once("close", () => failed(new Error("The connection was closed without an answer")));
    request.end();
  });
}

/** Refuses a name as soon as one of its addresses is refused: which of them would be tried is chance. */
export function lookupBy(
  rules: AddressRules,
  { resolveName = resolve, onResolving }: { readonly resolveName?: Resolve } & Pick<FetchOptions, "onResolving"> = {},
): LookupFunction {
  return (name, options, done) => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    onResolving?.(ended);
    resolveName(name, { ...options, all: true }, (error, addresses: readonly LookupAddress[] = []) => {
      end();
      const failure = error ?? faultOf(addresses, rules);
      const [first] = addresses;
      if (failure !== undefined || first === undefined) done(failure ?? null, "");
      else if (options.all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
  };
}

function faultOf(addresses: readonly LookupAddress[], rules: AddressRules): FetchFailure | undefined {
  if (addresses.length === 0) return new FetchFailure(unresolved);
  return addresses.every(({ address }) => rules.mayConnectTo(address)) ? undefined : refusedAddress();
}

async function textOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    bytes += piece.length;
    // Leaving the loop ends the connection.
    if (bytes > maxBytes) throw new FetchFailure(`it answered with more than ${maxBytes / 1024} KiB`);
    pieces.push(piece);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(pieces));
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
 * Codes are of Node and OpenSSL. A name that is not resolved and a certificate that is not trusted have clauses of their own, because
 * somebody has to mend them; connections that are refused, reset or broken have one, which does not tell which ports are open.
 */
function clauseOf(error: unknown): string {
  const code = String((error as { readonly code?: unknown }).code ?? "");
  if (["ENOTFOUND", "EAI_AGAIN", "ENODATA", "EAI_FAIL"].includes(code)) return unresolved;
  const isCertificate = /^(CERT_|UNABLE_TO_|ERR_TLS_CERT)|SELF_SIGNED|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)/.test(
    code,
  );
  return isCertificate ? `its certificate is not trusted (${code})` : "no connection to it could be made, or it broke";
}
