// Vitest's global set-up of the journeys: the images of this tree, where the journeys bring up a
// cluster of their own. A cluster that JSONPLANE_E2E_KUBECONFIG names has its images, or can pull
// them.

import { setup as packImages } from "../support/chart/image-build.ts";

export async function setup(): Promise<(() => Promise<void>) | undefined> {
  return process.env.JSONPLANE_E2E_KUBECONFIG ? undefined : await packImages();
}
