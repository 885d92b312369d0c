// `node tools/image/pin-images.ts --repository NAME --digest SHA256 --redis-digest SHA256 [--chart FOLDER]`: writes into the chart's
// values.yaml where its image is and which content both images have, so that a released chart always starts the same programs.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { readArguments, WrongArguments } from "../script-arguments.ts";
import { startScript } from "../start-script.ts";

export interface PublishedImages {
  /** Name of jsonplane's image with the registry's host. */
  readonly repository: string;
  /** `sha256:` and 64 hexadecimal digits, of jsonplane's image and of that of the bundled Redis. */
  readonly digest: string;
  readonly redisDigest: string;
}

/** The same values with these images. Tags stay, so that people can read which version a digest is. */
export function pinImages(values: string, { repository, digest, redisDigest }: PublishedImages): string {
  if (repository === "") throw new WrongArguments("--repository is missing: the name under which the image was pushed");
  for (const each of [digest, redisDigest]) {
    if (!/^sha256:[0-9a-f]{64}$/.test(each))
      throw new WrongArguments(`${JSON.stringify(each)} is not the digest of an image, such as sha256:0123…`);
  }
  const document = parseDocument(values);
  document.setIn(["image", "repository"], repository);
  document.setIn(["image", "digest"], digest);
  document.setIn(["redis", "bundled", "image", "digest"], redisDigest);
  return document.toString({ lineWidth: 0 });
}

if (import.meta.main) {
  startScript("node tools/image/pin-images.ts");
  const { values } = readArguments({
    repository: { type: "string" },
    digest: { type: "string" },
    "redis-digest": { type: "string" },
    chart: { type: "string" },
  });
  const { repository = "", digest = "", "redis-digest": redisDigest = "", chart = "charts/jsonplane" } = values;
  const file = join(chart, "values.yaml");
  await writeFile(file, pinImages(await readFile(file, "utf8"), { repository, digest, redisDigest }));
  console.log(`Wrote ${file}`);
}
