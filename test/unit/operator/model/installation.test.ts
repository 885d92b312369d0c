// What says which installation something was written by.

import { expect, it } from "vitest";
import { newKeyringText, parseKeyring } from "../../../../core/config/keyring.ts";
import { installationOf, installationText, parseInstallation } from "../../../../operator/model/installation.ts";

it("an installation reads what it has written", () => {
  const ours = installationOf(parseKeyring(newKeyringText()), {
    namespace: "jsonplane-system",
    name: "jsonplane-keyring",
  });
  expect(parseInstallation(installationText(ours))).toEqual(ours);
});

it.each(["", "a/b", "a/b/c/d", "/b/c", "a//c", "../b/c", "./b/c", "a b%2e?/b/c", "Shop/b/c", `${"a".repeat(64)}/b/c`])(
  "what no installation can have written, such as %j, names none",
  (text) => expect(parseInstallation(text)).toBeUndefined(),
);
