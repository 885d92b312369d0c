import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { pinImages } from "../../../../tools/image/pin-images.ts";

const values = await readFile(new URL("../../../../charts/jsonplane/values.yaml", import.meta.url), "utf8");
const images = {
  repository: "registry.example.org/team/jsonplane",
  digest: `sha256:${"a".repeat(64)}`,
  redisDigest: `sha256:${"b".repeat(64)}`,
};

it("says where the image is and which content both images have, and changes no other value and no comment", () => {
  const pinned = pinImages(values, images);
  const before = parse(values);
  expect(parse(pinned)).toEqual({
    ...before,
    image: { ...before.image, repository: images.repository, digest: images.digest },
    redis: {
      ...before.redis,
      bundled: { ...before.redis.bundled, image: { ...before.redis.bundled.image, digest: images.redisDigest } },
    },
  });
  const commentsOf = (text: string) => text.match(/^ *#.*$/gm);
  expect(commentsOf(pinned)).toEqual(commentsOf(values));
});

it.each([
  [{ repository: "" }, "--repository is missing"],
  [{ digest: "" }, '"" is not the digest of an image'],
  [{ redisDigest: "8.6" }, '"8.6" is not the digest of an image'],
])("refuses %j", (wrong, message) => {
  expect(() => pinImages(values, { ...images, ...wrong })).toThrow(message);
});
