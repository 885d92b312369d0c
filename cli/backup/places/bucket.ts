// Backups in a bucket of an S3-compatible service, addressed by path. Each body is signed with its
// SHA-256, which the service compares; a file of several parts appears with its completion. What
// answers in place of the service may agree to anything: so the length is asked for afterwards.

import { createHash } from "node:crypto";
import { AwsClient } from "aws4fetch";
import { install } from "undici";
import { reasonOf } from "../../service/service.ts";
import { StartRefused } from "../../start-refused.ts";
import { type Place, PlaceFailed } from "./place.ts";

export interface BucketSettings {
  readonly s3Endpoint: string | undefined;
  readonly s3Region: string;
  readonly s3AccessKeyId: string | undefined;
  readonly s3SecretAccessKey: string | undefined;
}

export interface BucketOptions extends BucketSettings {
  readonly bucket: string;
  /** Before each name, without a slash at its ends. */
  readonly prefix: string;
  /** Bytes of a part; 16 MiB by default, so that a file has 156 GiB at most. */
  readonly partBytes?: number;
}

const usualPartBytes = 16 * 1024 * 1024;
/** Of one request; a service that is gone answers nothing. */
const patienceMs = 60_000;

/** Throws StartRefused without credentials. */
export function createBucket(options: BucketOptions): Place {
  const { prefix, partBytes = usualPartBytes } = options;
  const ask = createRequests(options);
  const keyOf = (name: string): string => (prefix === "" ? name : `${prefix}/${name}`);

  const writeParts = async (key: string, parts: AsyncIterable<Uint8Array>): Promise<void> => {
    const started = await ask("POST", { key, query: { uploads: "" } });
    const uploadId = elementsOf(await started.text(), "UploadId")[0] ?? "";
    try {
      const tags: string[] = [];
      for await (const body of parts) {
        const query = { partNumber: String(tags.length + 1), uploadId };
        tags.push((await ask("PUT", { key, query, body })).headers.get("etag") ?? "");
      }
      const list = tags.map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`);
      const body = Buffer.from(`<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`);
      const answer = await (await ask("POST", { key, query: { uploadId }, body })).text();
      // S3 may begin to answer 200 before it knows the outcome.
      if (answer.includes("<Error>")) throw refusedBy("POST", key, elementsOf(answer, "Code")[0] ?? "no reason");
    } catch (error) {
      await ask("DELETE", { key, query: { uploadId } }).catch(() => undefined);
      throw error;
    }
  };

  return {
    async write(name, content) {
      let bytes = 0;
      const counted = async function* () {
        for await (const part of inParts(content, partBytes)) {
          bytes += part.length;
          yield part;
        }
      };
      const parts = counted();
      const first = await parts.next();
      const second = await parts.next();
      const key = keyOf(name);
      if (second.done) await ask("PUT", { key, body: first.value ?? new Uint8Array() });
      else await writeParts(key, rejoined([first.value ?? new Uint8Array(), second.value], parts));
      const found = (await ask("HEAD", { key })).headers.get("content-length");
      if (Number(found ?? -1) !== bytes)
        throw new PlaceFailed(`The bucket has ${found ?? "no"} bytes of ${key}, which took ${bytes}`);
    },
    async names(folder) {
      const found: string[] = [];
      const below = `${keyOf(folder).replace(/\/+$/, "")}/`.replace(/^\/$/, "");
      for (let token: string | undefined = ""; token !== undefined; ) {
        const query = { "list-type": "2", prefix: below, ...(token && { "continuation-token": token }) };
        const answer = await (await ask("GET", { key: "", query })).text();
        found.push(...elementsOf(answer, "Key").map((key) => key.slice(prefix === "" ? 0 : prefix.length + 1)));
        [token] = elementsOf(answer, "NextContinuationToken");
      }
      return found.sort();
    },
    async *read(name) {
      const { body } = await ask("GET", { key: keyOf(name) });
      try {
        if (body !== null) yield* body;
      } catch (cause) {
        throw new PlaceFailed(`The bucket broke off while ${keyOf(name)} was read`, { cause });
      }
    },
    async remove(name) {
      await ask("DELETE", { key: keyOf(name) });
    },
  };
}

interface BucketRequest {
  /** "" = the bucket itself. */
  readonly key: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

type Ask = (method: string, request: BucketRequest) => Promise<Response>;

function createRequests({ bucket, ...settings }: BucketOptions): Ask {
  const { s3AccessKeyId, s3SecretAccessKey, s3Region } = settings;
  if (s3AccessKeyId === undefined || s3SecretAccessKey === undefined)
    throw new StartRefused(
      "A bucket needs an access key: set JSONPLANE_S3_ACCESS_KEY_ID and JSONPLANE_S3_SECRET_ACCESS_KEY",
    );
  const endpoint = settings.s3Endpoint ?? `https://s3.${s3Region}.amazonaws.com`;
  const credentials = { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey };
  const client = new AwsClient({ ...credentials, region: s3Region, service: "s3", retries: 3 });
  // For the client, which takes the global fetch: see cli/service/fetch.ts.
  install();
  return async (method, { key, query = {}, body }) => {
    const url = new URL(`${endpoint}/${bucket}/${key}`.replace(/\/$/, ""));
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const hash = createHash("sha256")
      .update(body ?? "")
      .digest("hex");
    const answer = await client
      .fetch(url, {
        method,
        headers: { "x-amz-content-sha256": hash },
        ...(body && { body: body as Uint8Array<ArrayBuffer> }),
        // The answer to a read is as long as the file: its beginning alone is bounded.
        ...(method !== "GET" && { signal: AbortSignal.timeout(patienceMs) }),
      })
      .catch((cause: unknown) => {
        throw new PlaceFailed(`The bucket ${bucket} at ${endpoint} can't be reached${reasonOf(cause)}`, { cause });
      });
    if (answer.ok) return answer;
    const text = await answer.text().catch(() => "");
    throw refusedBy(method, `${bucket}/${key}`, `${answer.status} ${elementsOf(text, "Code")[0] ?? ""}`.trim());
  };
}

function refusedBy(method: string, path: string, reason: string): PlaceFailed {
  return new PlaceFailed(`The bucket refuses ${method} ${path}: ${reason}`);
}

/** Texts of all elements of that name. Keys of backups have no character that XML escapes. */
function elementsOf(xml: string, name: string): readonly string[] {
  return Array.from(xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, "g")), ([, text = ""]) => text);
}

/** Each of that length but the last; none of an empty content. */
async function* inParts(content: AsyncIterable<Uint8Array>, length: number): AsyncGenerator<Uint8Array> {
  let gathered: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    gathered.push(chunk);
    bytes += chunk.length;
    if (bytes < length) continue;
    const whole = Buffer.concat(gathered);
    let at = 0;
    for (; at + length <= whole.length; at += length) yield whole.subarray(at, at + length);
    gathered = [whole.subarray(at)];
    bytes = whole.length - at;
  }
  if (bytes > 0) yield Buffer.concat(gathered);
}

async function* rejoined<T>(first: readonly T[], rest: AsyncIterator<T>): AsyncGenerator<T> {
  yield* first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}
