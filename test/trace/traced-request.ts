// A request that can be sent again and again, so that what it runs is traced.

export interface TracedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** `{n}` is another number each time, so that a change is one. */
  readonly body: string | undefined;
}

export const warmUpsOfRequest = 30;

/** Answers with the status. */
export function senderOf({ method, url, headers, body }: TracedRequest): () => Promise<string> {
  let sent = 0;
  return async () => {
    sent += 1;
    const reply = await fetch(url, { method, headers, body: body?.replaceAll("{n}", String(sent)) ?? null });
    await reply.arrayBuffer();
    return String(reply.status);
  };
}
