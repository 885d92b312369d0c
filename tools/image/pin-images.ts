// Notes in a chart that is released where its image is and which content both images have, so that
// it always starts the same programs. Values that name another repository, tag or digest go their
// own way. Pure.

import { parseDocument } from "yaml";

export interface ReleasedImages {
  /** `registry.example.org/jsonplane:0.1.0@sha256:…` */
  readonly image: string;
  /** The same of the bundled Redis; undefined leaves it by its tag. */
  readonly redisImage?: string | undefined;
}

export interface ChartTexts {
  /** Of Chart.yaml and values.yaml. */
  readonly chart: string;
  readonly values: string;
}

export function pinImages({ chart, values }: ChartTexts, { image, redisImage }: ReleasedImages): ChartTexts {
  const [chartDocument, valuesDocument] = [parseDocument(chart), parseDocument(values)];
  chartDocument.setIn(["annotations", "jsonplane.io/image"], image);
  if (redisImage !== undefined) chartDocument.setIn(["annotations", "jsonplane.io/redis-image"], redisImage);
  valuesDocument.setIn(["image", "repository"], image.replace(/:[\w.-]+@.*$/, ""));
  return { chart: chartDocument.toString({ lineWidth: 0 }), values: valuesDocument.toString({ lineWidth: 0 }) };
}
