// Generated from crds/ by `npm run generate`. Change the CRD, not this file.
import type { ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

/**
 * A Project is one JSON backend with a base URL of its own. ApiResources, ProjectUsers, ApiKeys and RootKeys of the same namespace name it in their projectRef. Every setting has a default: a Project without a spec serves. Two annotations ask for something once: jsonplane.io/adopt-data "true" serves the data that a former namespace of this name left; another value of jsonplane.io/rotate-signing-key, such as a date, makes a new key for session tokens, and nobody is logged out. A third, jsonplane.io/accept-data-loss with the name of a loss, begins without data that Redis has lost.
 */
export interface Project {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "Project";
  readonly metadata: ObjectMeta;
  readonly spec: ProjectSpec;
  readonly status?: ProjectStatus;
}
/**
 * What the Project should be.
 */
export interface ProjectSpec {
  /**
   * Which operator takes care of this Project, where several run in one cluster. Unset: the one that runs without a class. Immutable.
   */
  readonly className?: string;
  /**
   * Whether clients must show who they are.
   */
  readonly authentication: {
    /**
     * Enabled: each resource and root key says who may do what. Disabled: no credentials are needed, whatever they say, and every object is reached; only Nobody still refuses. Default: Enabled.
     */
    readonly policy: "Enabled" | "Disabled";
  };
  /**
   * Host names that serve this Project at their root, beside <public URL>/<namespace>/<project>. The platform decides which names a namespace may claim; a name that another Project has already is refused. Default: an empty list.
   */
  readonly hosts: readonly string[];
  /**
   * How long logins last, and how many there may be.
   */
  readonly sessions: {
    /**
     * How long an access token is good for. A changed role, a revoked session or a deleted user works at once all the same. Default: 5m.
     */
    readonly accessTokenTTL: string;
    /**
     * How long a client can go on refreshing before the user must log in again. Default: 72h.
     */
    readonly refreshTokenTTL: string;
    /**
     * Sessions that one user may have. A further login ends the one that was refreshed least recently: its refresh token gets 401, its access token is good until it expires. Default: 100.
     */
    readonly maxPerUser: number;
    /**
     * Sessions that all users together may have. Further logins get 429, and no session is ended for them. Default: 10000.
     */
    readonly maxPerProject: number;
  };
  /**
   * What one request or one document may take.
   */
  readonly limits: {
    /**
     * Largest request body in bytes; larger ones get 413. Default: 1048576.
     */
    readonly maxBodyBytes: number;
    /**
     * Largest object of an ApiResource in bytes, without its id and _metadata; a POST, PUT or PATCH that would leave a larger one gets 413. An object that is larger already may change and shrink. Default: 1048576, or maxBodyBytes where that is more.
     */
    readonly maxObjectBytes?: number;
    /**
     * Largest whole value of one root key in bytes; a write that would exceed it gets 413. Default: 1048576.
     */
    readonly maxDocumentBytes: number;
    /**
     * Largest _limit of a list; a larger one gets 400. Default: 100.
     */
    readonly maxPageSize: number;
    /**
     * Writes without credentials that one client address may make in a minute, counted over all replicas; further ones get 429. Not applied while authentication is Disabled. Default: 600.
     */
    readonly anonymousWritesPerMinute: number;
    /**
     * What the whole Project may hold at most. A write that would exceed a quota gets 403; reads, deletions and writes that shrink what is stored go on. Replicas share it; what several of them write within two seconds may exceed it. Absent: no limit.
     */
    readonly quota?: {
      /**
       * Stored objects of all ApiResources of the Project, together.
       */
      readonly objects?: number;
      /**
       * UTF-8 bytes of stored JSON: all objects with their id and _metadata, and the values of all RootKeys, together.
       */
      readonly bytes?: number;
      /**
       * Members of the top level of all RootKeys' values, together: keys of an object, elements of an array.
       */
      readonly documentKeys?: number;
    };
    /**
     * How many requests are answered, counted over all replicas; further ones get 429 with Retry-After. A bucket holds burst requests and fills by requestsPerSecond. Absent: no limit. Requests that are refused for their credential, and preflights of browsers, are not counted.
     */
    readonly rate?: {
      /**
       * Of all callers together.
       */
      readonly project?: {
        /**
         * Requests that may go on for ever, per second.
         */
        readonly requestsPerSecond: number;
        /**
         * Requests that may come at once after a pause. Default: as many as requestsPerSecond.
         */
        readonly burst?: number;
      };
      /**
       * Of each user, each ApiKey, and each client address that sends no credential (IPv6 by /64).
       */
      readonly caller?: {
        /**
         * Requests that may go on for ever, per second.
         */
        readonly requestsPerSecond: number;
        /**
         * Requests that may come at once after a pause. Default: as many as requestsPerSecond.
         */
        readonly burst?: number;
      };
    };
  };
  /**
   * Which web pages may call this Project from a browser.
   */
  readonly cors: {
    /**
     * Origins such as https://app.example.org, of apps and extensions also capacitor://localhost or tauri://localhost, as the browser sends them in Origin; or "*" alone for any. Credentials travel in a header, never in cookies, so that "*" gives no page a visitor's login. An empty list switches CORS off. Default: "*".
     */
    readonly allowedOrigins: readonly string[];
    /**
     * How long a browser may remember the answer to a preflight request. Default: 10m.
     */
    readonly maxAge: string;
  };
  /**
   * Who may read the OpenAPI document at /openapi.json and use the reference page at /docs. They show every resource with its schema, whoever may read its objects, so that Anyone is for interfaces that are public. Authenticated: any user or key of the Project; Nobody: neither is served. With authentication Disabled, Authenticated counts as Anyone. Default: Authenticated.
   */
  readonly openapi: "Anyone" | "Authenticated" | "Nobody";
  /**
   * ReadWrite serves all requests; ReadOnly answers writes with 403; Off answers every request with 503. Off needs quotes in YAML: "Off" (without them it is the boolean false). Default: ReadWrite.
   */
  readonly serving: "ReadWrite" | "ReadOnly" | "Off";
  /**
   * true: the operator leaves this Project and its children as they are, whatever is applied. What is served goes on being served. Default: false.
   */
  readonly suspend: boolean;
  /**
   * What happens to the stored data when this Project is deleted: Retain keeps them, and a Project of the same name in the same namespace finds them again; Delete removes them for good, except those of children that say Retain. Logins, keys and URLs end at once in both cases. Default: Retain.
   */
  readonly deletionPolicy: "Retain" | "Delete";
}
/**
 * What the operator has seen and done. Written by the operator only.
 */
export interface ProjectStatus {
  /**
   * metadata.generation that the conditions speak of; -1 until the operator has seen the object.
   */
  readonly observedGeneration?: number;
  /**
   * metadata.generation that is served. It stays behind observedGeneration while the newest spec is broken, because the last good one goes on being served.
   */
  readonly liveGeneration?: number;
  /**
   * The address that clients use.
   */
  readonly baseURL?: string;
  /**
   * How many objects of each kind name this Project in their projectRef.
   */
  readonly children?: {
    /**
     * Number of ApiResources.
     */
    readonly apiResources?: number;
    /**
     * Number of ProjectUsers.
     */
    readonly projectUsers?: number;
    /**
     * Number of ApiKeys.
     */
    readonly apiKeys?: number;
    /**
     * Number of RootKeys.
     */
    readonly rootKeys?: number;
  };
  /**
   * How much of spec.limits.quota is used, as replicas that serve this Project tell: written at most once a minute, and when it changed by a hundredth of the limit. Kept when no replica tells.
   */
  readonly usage?: {
    /**
     * objects, bytes or documentKeys.
     */
    readonly quota: string;
    /**
     * How much is held.
     */
    readonly used: number;
    /**
     * How much may be held, as replicas apply it.
     */
    readonly limit: number;
    /**
     * true from 80 % of the limit on, until it is below 75 % again.
     */
    readonly nearlyFull: boolean;
  }[];
  /**
   * Accepted: the spec is valid and what it refers to exists. Programmed: every live replica serves it. Ready: both are true, and the stored data are not lost; it stays True when replicas restart or are added. Available: a live replica serves it now, for information. Reconciling and Stalled are present only while they are true: Reconciling is still being worked on, Stalled needs a person.
   */
  readonly conditions?: readonly ProjectCondition[];
}
export interface ProjectCondition {
  /**
   * Accepted, Programmed, Ready, Available, Reconciling or Stalled.
   */
  readonly type: string;
  /**
   * Whether the condition holds.
   */
  readonly status: "True" | "False" | "Unknown";
  /**
   * metadata.generation that this condition speaks of.
   */
  readonly observedGeneration?: number;
  /**
   * When status last changed.
   */
  readonly lastTransitionTime: string;
  /**
   * One word for programs, such as InvalidSchema or ProjectNotFound.
   */
  readonly reason: string;
  /**
   * A sentence for people. It holds no secret, no counter and no time.
   */
  readonly message: string;
}

export const projectSchema: SchemaNode = {
  "type": "object",
  "x-kubernetes-validations": [
    {
      "rule": "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",
      "fieldPath": ".metadata.name",
      "message": "metadata.name may have lower-case letters, digits and -, up to 63 of them, and starts and ends with a letter or digit"
    },
    {
      "rule": "(has(self.spec.className) ? self.spec.className : '') == (has(oldSelf.spec.className) ? oldSelf.spec.className : '')",
      "fieldPath": ".spec.className",
      "reason": "FieldValueForbidden",
      "message": "className is immutable: write the former value again, or delete this Project and create it anew (its data stay under deletionPolicy Retain)"
    }
  ],
  "properties": {
    "apiVersion": {
      "type": "string"
    },
    "kind": {
      "type": "string"
    },
    "metadata": {
      "type": "object",
      "properties": {
        "name": {
          "type": "string",
          "maxLength": 63
        }
      }
    },
    "spec": {
      "type": "object",
      "default": {},
      "properties": {
        "className": {
          "type": "string",
          "maxLength": 63,
          "x-kubernetes-validations": [
            {
              "rule": "self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",
              "message": "className may have lower-case letters, digits and -, and starts and ends with a letter or digit"
            }
          ]
        },
        "authentication": {
          "type": "object",
          "default": {},
          "properties": {
            "policy": {
              "type": "string",
              "enum": [
                "Enabled",
                "Disabled"
              ],
              "default": "Enabled"
            }
          }
        },
        "hosts": {
          "type": "array",
          "maxItems": 16,
          "default": [],
          "x-kubernetes-list-type": "set",
          "items": {
            "type": "string",
            "maxLength": 253,
            "x-kubernetes-validations": [
              {
                "rule": "self.matches('^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?[.])+[a-z]([-a-z0-9]{0,61}[a-z0-9])?$')",
                "message": "a host is a full name in lower case such as api.example.org: no wildcard, scheme, port or path"
              }
            ]
          }
        },
        "sessions": {
          "type": "object",
          "default": {},
          "x-kubernetes-validations": [
            {
              "rule": "!has(self.accessTokenTTL) || !has(self.refreshTokenTTL) || !self.accessTokenTTL.matches('^([0-9]{1,5}[hms]){1,3}$') || !self.refreshTokenTTL.matches('^([0-9]{1,5}[hms]){1,3}$') || duration(self.refreshTokenTTL) >= duration(self.accessTokenTTL)",
              "fieldPath": ".refreshTokenTTL",
              "message": "refreshTokenTTL may not be shorter than accessTokenTTL"
            }
          ],
          "properties": {
            "accessTokenTTL": {
              "type": "string",
              "maxLength": 16,
              "default": "5m",
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^([0-9]{1,5}[hms]){1,3}$') && duration(self) >= duration('10s') && duration(self) <= duration('24h')",
                  "message": "accessTokenTTL is a duration such as 90s, 5m or 12h30m, from 10s to 24h"
                }
              ]
            },
            "refreshTokenTTL": {
              "type": "string",
              "maxLength": 16,
              "default": "72h",
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^([0-9]{1,5}[hms]){1,3}$') && duration(self) >= duration('1m') && duration(self) <= duration('8760h')",
                  "message": "refreshTokenTTL is a duration such as 90s, 5m or 12h30m, from 1m to 8760h"
                }
              ]
            },
            "maxPerUser": {
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1000,
              "default": 100
            },
            "maxPerProject": {
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1000000,
              "default": 10000
            }
          }
        },
        "limits": {
          "type": "object",
          "default": {},
          "properties": {
            "maxBodyBytes": {
              "type": "integer",
              "format": "int64",
              "minimum": 1024,
              "maximum": 8388608,
              "default": 1048576
            },
            "maxObjectBytes": {
              "type": "integer",
              "format": "int64",
              "minimum": 1024,
              "maximum": 8388608
            },
            "maxDocumentBytes": {
              "type": "integer",
              "format": "int64",
              "minimum": 1024,
              "maximum": 8388608,
              "default": 1048576
            },
            "maxPageSize": {
              "type": "integer",
              "format": "int32",
              "minimum": 10,
              "maximum": 1000,
              "default": 100
            },
            "anonymousWritesPerMinute": {
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 1000000,
              "default": 600
            },
            "quota": {
              "type": "object",
              "minProperties": 1,
              "properties": {
                "objects": {
                  "type": "integer",
                  "format": "int64",
                  "minimum": 1,
                  "maximum": 1000000000
                },
                "bytes": {
                  "type": "integer",
                  "format": "int64",
                  "minimum": 1024,
                  "maximum": 1099511627776
                },
                "documentKeys": {
                  "type": "integer",
                  "format": "int64",
                  "minimum": 1,
                  "maximum": 1000000000
                }
              }
            },
            "rate": {
              "type": "object",
              "properties": {
                "project": {
                  "type": "object",
                  "required": [
                    "requestsPerSecond"
                  ],
                  "properties": {
                    "requestsPerSecond": {
                      "type": "integer",
                      "format": "int32",
                      "minimum": 1,
                      "maximum": 100000
                    },
                    "burst": {
                      "type": "integer",
                      "format": "int32",
                      "minimum": 1,
                      "maximum": 1000000
                    }
                  }
                },
                "caller": {
                  "type": "object",
                  "required": [
                    "requestsPerSecond"
                  ],
                  "properties": {
                    "requestsPerSecond": {
                      "type": "integer",
                      "format": "int32",
                      "minimum": 1,
                      "maximum": 100000
                    },
                    "burst": {
                      "type": "integer",
                      "format": "int32",
                      "minimum": 1,
                      "maximum": 1000000
                    }
                  }
                }
              }
            }
          }
        },
        "cors": {
          "type": "object",
          "default": {},
          "properties": {
            "allowedOrigins": {
              "type": "array",
              "maxItems": 64,
              "default": [
                "*"
              ],
              "x-kubernetes-list-type": "set",
              "x-kubernetes-validations": [
                {
                  "rule": "size(self) <= 1 || !self.exists(origin, origin == '*')",
                  "message": "\"*\" stands for every origin: write it alone, or list the origins without it"
                }
              ],
              "items": {
                "type": "string",
                "maxLength": 261,
                "x-kubernetes-validations": [
                  {
                    "rule": "self == '*' || self.matches('^[a-z][-a-z0-9+.]{0,31}://([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?|\\\\[[0-9a-f:.]{2,45}\\\\])(:[0-9]{1,5})?$')",
                    "message": "an origin is a scheme and a host in lower case, with a port where needed, such as https://app.example.org, http://localhost:5173 or capacitor://localhost: no path, no trailing slash, no wildcard"
                  }
                ]
              }
            },
            "maxAge": {
              "type": "string",
              "maxLength": 16,
              "default": "10m",
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^([0-9]{1,5}[hms]){1,3}$') && duration(self) >= duration('0s') && duration(self) <= duration('24h')",
                  "message": "maxAge is a duration such as 90s, 5m or 12h30m, from 0s to 24h"
                }
              ]
            }
          }
        },
        "openapi": {
          "type": "string",
          "enum": [
            "Anyone",
            "Authenticated",
            "Nobody"
          ],
          "default": "Authenticated"
        },
        "serving": {
          "type": "string",
          "enum": [
            "ReadWrite",
            "ReadOnly",
            "Off"
          ],
          "default": "ReadWrite"
        },
        "suspend": {
          "type": "boolean",
          "default": false
        },
        "deletionPolicy": {
          "type": "string",
          "enum": [
            "Retain",
            "Delete"
          ],
          "default": "Retain"
        }
      }
    }
  }
};
