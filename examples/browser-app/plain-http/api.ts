// api.ts: the client whose calls are checked against the types of the project's OpenAPI document.

import createClient from "openapi-fetch";
import { base } from "./base.ts";
import type { paths } from "./generated/api.generated.ts";
import { send } from "./session.ts";

export const api = createClient<paths>({ baseUrl: base, fetch: send });
