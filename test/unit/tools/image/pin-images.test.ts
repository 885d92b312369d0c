import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { pinImages } from "../../../../tools/image/pin-images.ts";

const folder = new URL("../../../../charts/jsonplane/", import.meta.url);
const [chart, values] = await Promise.all(
  ["Chart.yaml", "values.yaml"].map((name) => readFile(new URL(name, folder), "utf8")),
);
const texts = { chart: chart ?? "", values: values ?? "" };
const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const images = {
  image: `registry.example.org:5000/team/jsonplane:0.1.0@${digest("a")}`,
  redisImage: `redis:8.6@${digest("b")}`,
};

it("notes both images in the chart and where its own is in the values, and changes nothing else, no comment either", () => {
  const pinned = pinImages(texts, images);
  const before = parse(texts.values);
  expect(parse(pinned.values)).toEqual({
    ...before,
    image: { ...before.image, repository: "registry.example.org:5000/team/jsonplane" },
  });
  expect(parse(pinned.chart)).toEqual({
    ...parse(texts.chart),
    annotations: { "jsonplane.io/image": images.image, "jsonplane.io/redis-image": images.redisImage },
  });
  const commentsOf = (text: string) => text.match(/^ *#.*$/gm);
  expect(commentsOf(pinned.values)).toEqual(commentsOf(texts.values));
});

it("leaves the bundled Redis by its tag where its content isn't known", () => {
  const pinned = pinImages(texts, { image: images.image });
  expect(parse(pinned.chart).annotations).toEqual({ "jsonplane.io/image": images.image });
});
