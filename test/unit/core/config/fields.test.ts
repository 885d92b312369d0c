import { expect, it } from "vitest";
import { readProjectField } from "../../../../core/config/fields.ts";

it("a project that an older operator published lets users and keys read its description", () => {
  expect(readProjectField("project", '{"name":"shop"}')?.value).toMatchObject({
    name: "shop",
    openapi: "Authenticated",
  });
  expect(readProjectField("project", '{"openapi":"Nobody"}')?.value).toMatchObject({ openapi: "Nobody" });
});

it("a project that an older operator published has as many sessions as by default", () => {
  const read = (text: string) => readProjectField("project", text)?.value;
  const sessions = { accessTokenSeconds: 60, maxPerUser: 100, maxPerProject: 10_000 };
  expect(read('{"sessions":{"accessTokenSeconds":60}}')).toMatchObject({ sessions });
  expect(read('{"sessions":{"accessTokenSeconds":60,"maxPerUser":1,"maxPerProject":2}}')).toMatchObject({
    sessions: { accessTokenSeconds: 60, maxPerUser: 1, maxPerProject: 2 },
  });
});
