// What carrying out a request returns: a status, headers, and JSON text that is sent as it is.

export interface HttpResponse {
  readonly status: number;
  /** JSON text; absent = no body. */
  readonly text?: string;
  /** In place of `text`, a body that is not JSON: the reference page and its parts, shared by all responses. */
  readonly file?: { readonly type: string; readonly bytes: Uint8Array };
  readonly headers?: Readonly<Record<string, string>>;
  /** True when the body holds credentials and no cache may keep it. */
  readonly secret?: boolean;
}

export function ok(text: string): HttpResponse {
  return { status: 200, text };
}

export function created(text: string, headers?: Readonly<Record<string, string>>): HttpResponse {
  return headers ? { status: 201, text, headers } : { status: 201, text };
}

export const noContent: HttpResponse = Object.freeze({ status: 204 });
