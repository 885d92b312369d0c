// What is served of a Project whose present spec waits or is refused: as it was, but for what can't wait.

import { expect, it } from "vitest";
import { acceptLossAnnotation } from "../../../../core/config/store-fields.ts";
import type { ProjectParts } from "../../../../core/config/types.ts";
import { lastGoodProject } from "../../../../operator/compile/check-project.ts";
import { noHosts } from "../../../../operator/compile/hosts.ts";
import type { Project } from "../../../../operator/model/objects.ts";
import { project, withConfig } from "../../../support/http/projects.ts";
import { stored } from "../../../support/kubernetes/stored-crs.ts";

const shop = project("shop");

function keptOf(object: Project, before: ProjectParts) {
  const previous = withConfig({ uid: object.metadata.uid })(before);
  return lastGoodProject(object, { published: previous, hosts: noHosts });
}

it("that a loss of data is accepted counts at once", () => {
  const plain = stored("Project", "shop") as Project;
  const metadata = { ...plain.metadata, annotations: { [acceptLossAnnotation]: "4f3a" } };
  expect(keptOf({ ...plain, metadata }, shop)?.acceptedDataLoss).toBe("4f3a");
});

it("that it is accepted no longer counts at once, too", () => {
  const before = withConfig({ acceptedDataLoss: "4f3a" })(shop);
  expect(keptOf(stored("Project", "shop") as Project, before)).not.toHaveProperty("acceptedDataLoss");
});
