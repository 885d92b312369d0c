// The order in which vitest takes test files: those that take long and mostly wait come first, so
// that nothing waits for them in the end; then vitest's own order, by the time or size of the
// files.

import type { TestSpecification } from "vitest/node";
import { BaseSequencer } from "vitest/node";

export class StartOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isFirst = ({ project, moduleId }: TestSpecification): boolean =>
      project.name === "e2e" || moduleId.endsWith("/test/process/chaos.test.ts");
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))];
  }
}
