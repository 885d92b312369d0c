// The fetch of Node 24 ends the process if a server closes a connection before its response was
// read to the end, as at the end of a long export (nodejs/undici#5360). That of undici doesn't.

import { fetch as fetchOfUndici } from "undici";

// Their types differ in what neither has at run time.
export const fetch = fetchOfUndici as unknown as typeof globalThis.fetch;
