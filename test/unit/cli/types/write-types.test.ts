// What is made of test/golden/types/shop.yaml is compared with the files next to it; the compiler
// checks them with typed-shop.ts. After an intended change: `vitest --project unit -u`, and read
// the difference.

import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { describeApi } from "../../../../cli/types/describe-api.ts";
import { describeFolder } from "../../../../cli/types/read-description.ts";
import { type TypesFormat, typesText } from "../../../../cli/types/write-types.ts";

const golden = fileURLToPath(new URL("../../../golden/types/", import.meta.url));

it.each<[TypesFormat, string]>([
  ["typescript", "shop.ts"],
  ["json-schema", "shop.json"],
])("a project as %s is as it was", async (format, file) => {
  const text = typesText(describeApi(await describeFolder(golden, undefined)), format);
  await expect(text).toMatchFileSnapshot(`${golden}generated/${file}`);
});
