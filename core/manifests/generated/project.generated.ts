// Generated from crds/ by `npm run generate`. Change the CRD, not this file.
import type { ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

/**
 * A Project is one JSON backend with its own base URL. ApiResources, ProjectUsers, ApiKeys and RootKeys of the same namespace name it in their projectRef. Every setting has a default, so a Project without a spec is served. Three annotations request something once. jsonplane.io/adopt-data "true": serve the data of a former namespace of this name. jsonplane.io/rotate-signing-key with a new value, such as a date: create a new key for session tokens; no session ends. jsonplane.io/accept-data-loss with the name of a loss: continue without data that Redis has lost.
 */
export interface Project {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "Project";
  readonly metadata: ObjectMeta;
  readonly spec: ProjectSpec;
  readonly status?: ProjectStatus;
}
/**
 * The desired state of the Project.
 */
export interface ProjectSpec {
  /**
   * The operator that serves this Project, if several run in one cluster. Unset: the operator without a class. Immutable.
   */
  readonly className?: string;
  /**
   * Whether clients need credentials.
   */
  readonly authentication: {
    /**
     * Enabled: the access rules of each resource and root key apply. Disabled: no credentials are needed, and every caller reaches every object; only Nobody still refuses. Default: Enabled.
     */
    readonly policy: "Enabled" | "Disabled";
  };
  /**
   * Host names that serve this Project at their root, in addition to <public URL>/<namespace>/<project>. The platform decides which names a namespace may claim. A name that another Project already has is refused. Default: an empty list.
   */
  readonly hosts: readonly string[];
  /**
   * How long sessions last, and how many there may be.
   */
  readonly sessions: {
    /**
     * How long an access token is valid. A changed role, an ended session or a deleted user takes effect before that, usually within a second. Default: 5m.
     */
    readonly accessTokenTTL: string;
    /**
     * How long a client can refresh a session before the user must log in again. Default: 72h.
     */
    readonly refreshTokenTTL: string;
    /**
     * Sessions that one user may have. A further login ends the session that was refreshed least recently: its refresh token answers 401, its access token is valid until it expires. Default: 100.
     */
    readonly maxPerUser: number;
    /**
     * Sessions that all users together may have. Further logins answer 429 and end no session. Default: 10000.
     */
    readonly maxPerProject: number;
  };
  /**
   * Limits of one request and one document, quotas of the Project, and rates of requests.
   */
  readonly limits: {
    /**
     * Largest request body in bytes; a larger one answers 413. Default: 1048576.
     */
    readonly maxBodyBytes: number;
    /**
     * Largest object of an ApiResource in bytes, without its id and _metadata. A POST, PUT or PATCH that would store a larger one answers 413. An object that is already larger may change, but not grow. Default: 1048576, or maxBodyBytes if that is more.
     */
    readonly maxObjectBytes?: number;
    /**
     * Largest whole value of one root key in bytes; a write that would exceed it answers 413. Default: 1048576.
     */
    readonly maxDocumentBytes: number;
    /**
     * Largest _limit of a list; a larger one answers 400. Default: 100.
     */
    readonly maxPageSize: number;
    /**
     * Writes without credentials that one client address may send in a minute, counted over all replicas; further ones answer 429. Not applied while authentication is Disabled. Default: 600.
     */
    readonly anonymousWritesPerMinute: number;
    /**
     * How much the whole Project may store. A write that would exceed a quota answers 403; reads, deletions and writes that make data smaller still work. All replicas share a quota; writes of several replicas within two seconds may exceed it. Unset: no limit.
     */
    readonly quota?: {
      /**
       * Stored objects of all ApiResources together.
       */
      readonly objects?: number;
      /**
       * UTF-8 bytes of stored JSON: all objects with their id and _metadata, and the values of all RootKeys, together.
       */
      readonly bytes?: number;
      /**
       * Top-level members of the values of all RootKeys together: keys of an object, elements of an array.
       */
      readonly documentKeys?: number;
    };
    /**
     * How many requests are served, counted over all replicas; further ones answer 429 with Retry-After. It is a token bucket with burst tokens that is filled by requestsPerSecond. Requests with a refused credential, and preflight requests of browsers, are not counted. Unset: no limit.
     */
    readonly rate?: {
      /**
       * The rate of all callers together.
       */
      readonly project?: {
        /**
         * Requests per second on average.
         */
        readonly requestsPerSecond: number;
        /**
         * Requests that may arrive at once after a pause. Default: requestsPerSecond.
         */
        readonly burst?: number;
      };
      /**
       * The rate of each user, each ApiKey, and each client address without credentials (IPv6: each /64 network).
       */
      readonly caller?: {
        /**
         * Requests per second on average.
         */
        readonly requestsPerSecond: number;
        /**
         * Requests that may arrive at once after a pause. Default: requestsPerSecond.
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
     * Origins as the browser sends them, such as https://app.example.org, or capacitor://localhost of an app; or "*" alone for any origin. Credentials are in a header, never in cookies, so "*" gives no page the login of a visitor. An empty list switches CORS off. Default: "*".
     */
    readonly allowedOrigins: readonly string[];
    /**
     * How long a browser may cache the answer to a preflight request. Default: 10m.
     */
    readonly maxAge: string;
  };
  /**
   * Who may use the console at /console, a page in which people browse and edit the data of the Project with credentials of their own. It shows the schema of every resource, as /openapi.json does; the access rules say who may read and write the data. Anyone: the console opens without credentials. Authenticated: for any user or key of the Project; with authentication Disabled, the same as Anyone. Nobody: it is not served, except in dev mode, where Nobody means Authenticated. Default: Nobody.
   */
  readonly console: "Anyone" | "Authenticated" | "Nobody";
  /**
   * Who may read the OpenAPI document at /openapi.json and use the reference page at /docs. Both show the schema of every resource, independently of its access rules. Anyone: for public APIs. Authenticated: any user or key of the Project; with authentication Disabled, the same as Anyone. Nobody: neither is served. Default: Authenticated.
   */
  readonly openapi: "Anyone" | "Authenticated" | "Nobody";
  /**
   * ReadWrite: all requests are served. ReadOnly: writes answer 403. Off: every request answers 503; write "Off" with quotes, because without them YAML reads the boolean false. Default: ReadWrite.
   */
  readonly serving: "ReadWrite" | "ReadOnly" | "Off";
  /**
   * true: the operator applies no changes of this Project and its children. They are served as before. Default: false.
   */
  readonly suspend: boolean;
  /**
   * What happens to the stored data when this Project is deleted. Retain: they are kept for the next Project of the same name in the same namespace. Delete: they are deleted for good, except those of children with Retain. Logins, keys and URLs stop working at once in both cases. Default: Retain.
   */
  readonly deletionPolicy: "Retain" | "Delete";
}
/**
 * The state that the operator found and reached. Only the operator writes it.
 */
export interface ProjectStatus {
  /**
   * metadata.generation that the conditions describe; -1 until the operator has seen the object.
   */
  readonly observedGeneration?: number;
  /**
   * metadata.generation that is served. It is older than observedGeneration while the newest spec is invalid, because the last good one is still served.
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
   * The quotas and rates that hold for this Project: those of the version that is served, with the defaults and the largest values that the platform sets. What is absent here has no limit.
   */
  readonly effectiveLimits?: {
    /**
     * How much the whole Project may store.
     */
    readonly quota?: {
      /**
       * Stored objects of all ApiResources together.
       */
      readonly objects?: number;
      /**
       * UTF-8 bytes of stored JSON.
       */
      readonly bytes?: number;
      /**
       * Top-level members of the values of all RootKeys together.
       */
      readonly documentKeys?: number;
    };
    /**
     * How many requests are served.
     */
    readonly rate?: {
      /**
       * The rate of all callers together.
       */
      readonly project?: {
        /**
         * Requests per second on average.
         */
        readonly requestsPerSecond: number;
        /**
         * Requests that may arrive at once after a pause.
         */
        readonly burst: number;
      };
      /**
       * The rate of each caller.
       */
      readonly caller?: {
        /**
         * Requests per second on average.
         */
        readonly requestsPerSecond: number;
        /**
         * Requests that may arrive at once after a pause.
         */
        readonly burst: number;
      };
    };
  };
  /**
   * How many objects the ApiResources of this Project hold, as replicas count them. Written at most once a minute, and only if it changed by 1 %; with hundreds of such Projects, in turns. The metric jsonplane_stored_objects has every change. Absent until there is an object.
   */
  readonly storedObjects?: number;
  /**
   * How much of spec.limits.quota is used, as the replicas that serve this Project report it. Written like storedObjects, and at once when a limit or nearlyFull changes. Kept while no replica reports.
   */
  readonly usage?: {
    /**
     * objects, bytes or documentKeys.
     */
    readonly quota: string;
    /**
     * How much is used.
     */
    readonly used: number;
    /**
     * The limit that replicas apply.
     */
    readonly limit: number;
    /**
     * true from 80 % of the limit until usage is below 75 % again.
     */
    readonly nearlyFull: boolean;
  }[];
  /**
   * Accepted: the spec is valid, and what it refers to exists. Programmed: every live replica serves it. Ready: both are true, and the stored data are not lost; it stays True when replicas restart or are added. Available: a live replica serves it now, for information. Reconciling, Stalled and Contested are present only while they are true. Reconciling: Ready is false and becomes true by itself. Stalled: somebody has to edit something. Contested: another installation is responsible for the object.
   */
  readonly conditions?: readonly ProjectCondition[];
}
export interface ProjectCondition {
  /**
   * Accepted, Programmed, Ready, Available, Reconciling, Stalled or Contested.
   */
  readonly type: string;
  /**
   * Whether the condition holds.
   */
  readonly status: "True" | "False" | "Unknown";
  /**
   * metadata.generation that this condition describes.
   */
  readonly observedGeneration?: number;
  /**
   * When status last changed.
   */
  readonly lastTransitionTime: string;
  /**
   * The cause in one word, for programs, such as InvalidSchema or ProjectNotFound.
   */
  readonly reason: string;
  /**
   * The cause in a sentence, for people. It contains no secret, no counter and no time.
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
      "message": "className is immutable: write the former value again, or delete this Project and create it again (its data stay under deletionPolicy Retain)"
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
        "console": {
          "type": "string",
          "enum": [
            "Anyone",
            "Authenticated",
            "Nobody"
          ],
          "default": "Nobody"
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
