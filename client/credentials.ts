// What requests send in Authorization, where it isn't a session (session.ts).

export interface Credentials {
  /** The header of now; undefined = none. */
  current(): Promise<string | undefined>;
  /** The header in place of one that has expired; undefined = there is no other. */
  renewed(expired: string): Promise<string | undefined>;
  /** The server knows this header's credential no more. */
  refused(header: string): void;
}

/**
 * Asked for the token before each request. `expired`: the server says that this one has expired, so
 * get another one, whatever the clock of this machine says.
 */
export type TokenSource = (expired?: string) => string | undefined | Promise<string | undefined>;

export function apiKeyCredentials(apiKey: string): Credentials {
  return { current: async () => `apikey ${apiKey}`, renewed: async () => undefined, refused: () => undefined };
}

export function tokenCredentials(token: TokenSource): Credentials {
  const header = async (expired?: string) => {
    const found = await token(expired);
    return found === undefined ? undefined : prefix + found;
  };
  return {
    current: () => header(),
    async renewed(expired) {
      const other = await header(expired.slice(prefix.length));
      return other === expired ? undefined : other;
    },
    refused: () => undefined,
  };
}

const prefix = "bearer ";
