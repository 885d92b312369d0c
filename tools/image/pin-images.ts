// `node tools/image/pin-images.ts --image NAME:TAG@DIGEST --redis-image NAME:TAG@DIGEST [--chart
// FOLDER]`: notes in a chart that is released where its image is and which content both images
// have, so that it always starts the same programs. Values that name another repository, tag or
// digest go their own way.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { readArguments, WrongArguments } from "../script-arguments.ts";
import { startScript } from "../start-script.ts";

/** Each with its repository, tag and digest. */
export interface ReleasedImages {
  readonly image: string;
  readonly redisImage: string;
}

export interface ChartTexts {
  /** Of Chart.yaml and values.yaml. */
  readonly chart: string;
  readonly values: string;
}

const imagePattern = /^(?<repository>[^@\s]+):(?<tag>[\w.-]+)@sha256:[0-9a-f]{64}$/;

/** Throws WrongArguments for what is no image with tag and digest. */
export function pinImages({ chart, values }: ChartTexts, { image, redisImage }: ReleasedImages): ChartTexts {
  const { repository } = partsOf("--image", image);
  partsOf("--redis-image", redisImage);
  const [chartDocument, valuesDocument] = [parseDocument(chart), parseDocument(values)];
  chartDocument.setIn(["annotations", "jsonplane.io/image"], image);
  chartDocument.setIn(["annotations", "jsonplane.io/redis-image"], redisImage);
  valuesDocument.setIn(["image", "repository"], repository);
  return { chart: chartDocument.toString({ lineWidth: 0 }), values: valuesDocument.toString({ lineWidth: 0 }) };
}

function partsOf(flag: string, image: string): { readonly repository: string } {
  const { repository } = imagePattern.exec(image)?.groups ?? {};
  if (repository !== undefined) return { repository };
  throw new WrongArguments(`${flag} is ${JSON.stringify(image)}: it takes an image such as name:1.0@sha256:0123…`);
}

if (import.meta.main) {
  startScript("node tools/image/pin-images.ts");
  const text = { type: "string" } as const;
  const { values: flags } = readArguments({ image: text, "redis-image": text, chart: text });
  const { image = "", "redis-image": redisImage = "", chart = "charts/jsonplane" } = flags;
  const [chartFile, valuesFile] = [join(chart, "Chart.yaml"), join(chart, "values.yaml")];
  const texts = { chart: await readFile(chartFile, "utf8"), values: await readFile(valuesFile, "utf8") };
  const pinned = pinImages(texts, { image, redisImage });
  await Promise.all([writeFile(chartFile, pinned.chart), writeFile(valuesFile, pinned.values)]);
  console.log(`Wrote ${chartFile} and ${valuesFile}`);
}
