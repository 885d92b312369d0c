// Gets one password or key, or a token for the page that is to get it.

async function post<T>(target: string, headers: Readonly<Record<string, string>> = {}): Promise<T> {
  const response = await fetch(`-/overview/${target}`, { method: "POST", headers, credentials: "omit" });
  if (!response.ok) throw new Error(`The server answers ${response.status}`);
  return (await response.json()) as T;
}

export async function oneTimeToken(subject: string): Promise<string> {
  const { token } = await post<{ readonly token: string }>(`token?of=${encodeURIComponent(subject)}`);
  return token;
}

export async function secretOf(subject: string): Promise<string> {
  const headers = { Authorization: `Bearer ${await oneTimeToken(subject)}` };
  const { secret } = await post<{ readonly secret: string }>("credential", headers);
  return secret;
}
