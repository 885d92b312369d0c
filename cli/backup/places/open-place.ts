// Opens the place that a command line names.

import { StartRefused } from "../../start-refused.ts";
import type { BucketSettings } from "./bucket.ts";
import type { Place } from "./place.ts";

const bucketUrl = /^s3:\/\/([a-z0-9][-a-z0-9.]{1,61}[a-z0-9])(?:\/([-A-Za-z0-9._/]*?))?\/*$/;

/** `word` = a folder, or `s3://bucket/prefix`. Throws StartRefused. */
export async function openPlace(word: string, settings: BucketSettings): Promise<Place> {
  if (!word.includes("://")) {
    const { createFolder } = await import("./folder.ts");
    return createFolder(word);
  }
  const [, bucket, prefix = ""] = bucketUrl.exec(word) ?? [];
  if (bucket === undefined)
    throw new StartRefused(`${word} is no place for backups: name a folder, or a bucket as s3://bucket/prefix`);
  const { createBucket } = await import("./bucket.ts");
  return createBucket({ ...settings, bucket, prefix });
}
