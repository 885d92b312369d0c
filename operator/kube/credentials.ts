// What is needed to talk to one API server, and where it comes from. Refuses plain http except on this machine: a bearer token
// would go over the wire for all to read.

export interface Credentials {
  /** May have a path, as behind a gateway for many clusters. */
  readonly server: URL;
  /** Authorization and impersonation; never logged. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsSettings;
  readonly proxy?: string;
}

/** PEM texts. */
export interface TlsSettings {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  /** False = the kubeconfig asks for insecure-skip-tls-verify. */
  readonly rejectUnauthorized?: boolean;
}

export interface CredentialSource {
  /** The namespace of the context or of the service account. */
  readonly namespace: string;
  /** Tokens and certificates are short-lived files: they are read again every few seconds. */
  current(): Promise<Credentials>;
  /** After the server refused them: drops what is cached, the output of an exec plugin included. */
  forget(): void;
}

/** There is no usable way to an API server in what was configured. Its message says what to set. */
export class NoCluster extends Error {
  override readonly name = "NoCluster";
}

const cachedMs = 10_000;

/** Calls `load` at most every ten seconds, and once for all calls meanwhile. */
export function cached(load: () => Promise<Credentials>, monotonic: () => number): () => Promise<Credentials> {
  let loading: Promise<Credentials> | undefined;
  let loadedAt = 0;
  return () => {
    if (loading !== undefined && monotonic() - loadedAt < cachedMs) return loading;
    loadedAt = monotonic();
    const attempt = load();
    loading = attempt;
    attempt.catch(() => {
      if (loading === attempt) loading = undefined;
    });
    return attempt;
  };
}

const thisMachine: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"]);

export function serverUrl(text: string): URL {
  if (!URL.canParse(text)) throw new NoCluster(`the API server's address is not a URL: ${JSON.stringify(text)}`);
  const url = new URL(text);
  if (url.protocol === "https:" || (url.protocol === "http:" && thisMachine.has(url.hostname))) return url;
  throw new NoCluster(
    `the API server must be reached by https (http is accepted on localhost only), not ${url.origin}`,
  );
}

export interface RefusedCredentials<Call> {
  observe(call: Call): void;
  /** What is wrong, while the API server's last answer was a refusal of who asks. */
  fault(): string | undefined;
}

export const refusedAdvice =
  "Look at the token in --kubeconfig. If the ServiceAccount of the pods was deleted, create it and replace the pods: a restarted container keeps the token of the former one";

/**
 * Watches what calls are answered, by HTTP status, and passes it on to `next`. Credentials are loaded again after each refusal, so that those of a
 * deleted ServiceAccount stay refused until its pods are replaced.
 */
export function createRefusedCredentials<Call extends { readonly code: string }>(
  next: (call: Call) => void,
): RefusedCredentials<Call> {
  let isRefused = false;
  return {
    observe(call) {
      // Without an answer it is not known.
      if (call.code !== "<error>") isRefused = call.code === "401";
      next(call);
    },
    fault: () => (isRefused ? "the API server refuses the operator's credentials (401 Unauthorized)" : undefined),
  };
}
