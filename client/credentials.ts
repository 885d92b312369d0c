// What requests send in Authorization, where it isn't a session (session.ts).

export interface Credential {
  /** As it is sent. */
  readonly header: string;
  /** Another one after somebody else has signed in. */
  readonly session?: string;
}

export interface Credentials {
  /** That of now; undefined = none. */
  current(): Promise<Credential | undefined>;
  /** The same caller's in place of one that has expired; undefined = there is no other. */
  renewed(expired: Credential): Promise<Credential | undefined>;
  /** The server knows it no more. */
  refused(credential: Credential): void;
}

/**
 * Asked for the token before each request. `expired`: the server says that this one has expired, so
 * get another one, whatever the clock of this machine says.
 */
export type TokenSource = (expired?: string) => string | undefined | Promise<string | undefined>;

export function apiKeyCredentials(apiKey: string): Credentials {
  return {
    current: async () => ({ header: `apikey ${apiKey}` }),
    renewed: async () => undefined,
    refused: () => undefined,
  };
}

export function tokenCredentials(token: TokenSource): Credentials {
  const credential = async (expired?: string) => {
    const found = await token(expired);
    return found === undefined ? undefined : { header: prefix + found };
  };
  return {
    current: () => credential(),
    async renewed({ header }) {
      const other = await credential(header.slice(prefix.length));
      return other?.header === header ? undefined : other;
    },
    refused: () => undefined,
  };
}

const prefix = "bearer ";
