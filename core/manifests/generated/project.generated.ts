// Generated from crds/ by `npm run generate`. Change the CRD, not this file.
import type { ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

/**
 * A Project is one JSON backend with its own base URL. ApiResources, ProjectUsers, ApiKeys and RootKeys of the same namespace name it in their projectRef. Every setting has a default, so a Project without a spec is served. Two annotations request something once. jsonplane.io/adopt-data "true": serve the data of a former namespace of this name, and use the keys and passwords in restored Secrets, where the platform allows it. jsonplane.io/rotate-signing-key with a new value, such as a date: create a new key for session tokens; no session ends.
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
   * Whether clients need credentials, and whose tokens count as credentials.
   */
  readonly authentication: {
    /**
     * Enabled: the access rules of each resource and root key apply. Disabled: no credentials are needed, and every caller reaches every object; only Nobody still refuses. Default: Enabled.
     */
    readonly policy: "Enabled" | "Disabled";
    /**
     * Others whose tokens (JSON Web Tokens, RFC 7519) clients may send in Authorization: Bearer. OpenID Connect providers, and with kubernetes the ServiceAccounts of this cluster. Callers are named <issuer name>/<username>. The platform decides which URLs may be used. Unset: none.
     */
    readonly issuers?: {
      /**
       * The issuer's name here, with which the names of its callers begin.
       */
      readonly name: string;
      /**
       * Who makes the tokens, and for whom.
       */
      readonly issuer: {
        /**
         * The claim iss of its tokens, exactly. Its keys are found by <url>/.well-known/openid-configuration (OpenID Connect Discovery 1.0).
         */
        readonly url?: string;
        /**
         * A token is taken if its claim aud has one of these.
         */
        readonly audiences: readonly string[];
        /**
         * PEM certificates of the authorities that the issuer's server certificate may come from, in place of public ones.
         */
        readonly certificateAuthority?: string;
        /**
         * The issuer's public keys as a JSON Web Key Set (RFC 7517). With it nothing is fetched, and new keys have to be written here.
         */
        readonly jwks?: string;
      };
      /**
       * This cluster's own issuer, whose URL and keys the API server gives. Tokens are those of ServiceAccounts, such as a Pod's projected volume has. Of an API server with several issuers, those of the first count. A token outlives its deleted Pod until it expires.
       */
      readonly kubernetes?: {};
      /**
       * What claims are used for.
       */
      readonly claimMappings?: {
        /**
         * The caller's name, without the issuer's.
         */
        readonly username?: {
          /**
           * A claim whose value is a string that only the issuer can change, and that no two of its subjects have. With email, add a claim validation rule for email_verified: the API server looks at it by itself, a Project does not. If unset: sub.
           */
          readonly claim: string;
        };
      };
      /**
       * What else a token has to say. Other than in the API server's structured authentication, claims need not be strings (see requiredValue). Unset = nothing.
       */
      readonly claimValidationRules?: {
        /**
         * Name of a claim at the top level of the token.
         */
        readonly claim: string;
        /**
         * The value it must have, or an array must contain; of scope and scp, a word among those with spaces between them. A number or a boolean is compared as JSON writes it.
         */
        readonly requiredValue: string;
      }[];
      /**
       * Id of a public client at the issuer, with which /docs and /console sign in (authorization code with PKCE, RFC 7636). The issuer has to know both pages as redirect URIs, and to allow their origin. Unset: they don't offer it.
       */
      readonly clientId?: string;
      /**
       * What /docs and /console ask the issuer for, beside openid: scopes of OAuth 2.0 (RFC 6749), such as profile, the one that makes an access token for this API, or offline_access where the issuer gives a refresh token for it. Unset: openid only.
       */
      readonly scopes?: readonly string[];
      /**
       * What its callers may do: Read, or Write as well. Which objects they reach, the rules of each resource and root key say. If unset: Read.
       */
      readonly access?: "Read" | "Write";
      /**
       * Callers to whom one of these applies have the role Administrators, others Users.
       */
      readonly administrators?: {
        /**
         * Name of a claim whose value is a string or an array of strings, or scope or scp.
         */
        readonly claim: string;
        /**
         * The string, a string in the array, or a word of scope or scp.
         */
        readonly contains: string;
      }[];
      /**
       * The ServiceAccounts of this cluster that are let in. Nobody else is.
       */
      readonly serviceAccounts?: {
        /**
         * Namespace of the ServiceAccount.
         */
        readonly namespace: string;
        /**
         * Name of the ServiceAccount.
         */
        readonly name: string;
        /**
         * Users or Administrators. Default: Users.
         */
        readonly role: "Users" | "Administrators";
        /**
         * Read, or Write as well. Default: Read.
         */
        readonly access: "Read" | "Write";
      }[];
    }[];
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
     * Further request headers that pages may send, such as X-B3-TraceId, or "*" for any. Headers that the API reads and those of common tracing, such as traceparent, are always allowed.
     */
    readonly allowHeaders?: readonly string[];
    /**
     * How long a browser may cache the answer to a preflight request. Default: 10m.
     */
    readonly maxAge: string;
  };
  /**
   * Who may use the console at /console, a page in which people browse and edit the data of the Project with credentials of their own. It shows the schema of every resource, as /openapi.json does; the access rules say who may read and write the data. Anyone: the console opens without credentials. Authenticated: for any caller with credentials of the Project; with authentication Disabled, the same as Anyone. Nobody: it is not served, except in dev mode, where Nobody means Authenticated. Default: Nobody.
   */
  readonly console: "Anyone" | "Authenticated" | "Nobody";
  /**
   * Who may read the OpenAPI document at /openapi.json and use the reference page at /docs. Both show the schema of every resource, independently of its access rules. Anyone: for public APIs. Authenticated: any caller with credentials of the Project; with authentication Disabled, the same as Anyone. Nobody: neither is served. Default: Authenticated.
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
   * The installation of jsonplane that looks after the object, as <namespace>/<name of its Lease>. Another one leaves it alone.
   */
  readonly controller?: string;
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
   * Accepted: the spec is valid, and what it refers to exists. Programmed: every live replica serves it. Ready: both are true, and the stored data are not lost; it stays True when replicas restart or are added. Available: a live replica serves it now, for information. Reconciling and Stalled are present only while they are true. Reconciling: Ready is false and becomes true by itself. Stalled: somebody has to edit something.
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
            },
            "issuers": {
              "type": "array",
              "maxItems": 8,
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": [
                "name"
              ],
              "x-kubernetes-validations": [
                {
                  "rule": "self.all(each, !has(each.issuer.url) || self.exists_one(other, has(other.issuer.url) && other.issuer.url == each.issuer.url))",
                  "message": "two issuers may not have the same url; give one issuer all audiences"
                },
                {
                  "rule": "self.filter(each, has(each.kubernetes)).size() <= 1",
                  "message": "only one issuer may be kubernetes"
                }
              ],
              "items": {
                "type": "object",
                "required": [
                  "name",
                  "issuer"
                ],
                "x-kubernetes-validations": [
                  {
                    "rule": "has(self.kubernetes) != has(self.issuer.url)",
                    "message": "an issuer has either issuer.url, or kubernetes for the issuer of this cluster"
                  },
                  {
                    "rule": "has(self.kubernetes) == has(self.serviceAccounts)",
                    "message": "serviceAccounts says who of kubernetes is let in; one is not without the other"
                  },
                  {
                    "rule": "!has(self.kubernetes) || !(has(self.access) || has(self.administrators) || has(self.clientId) || has(self.claimMappings) || has(self.claimValidationRules) || has(self.issuer.jwks) || has(self.issuer.certificateAuthority))",
                    "message": "kubernetes takes name, issuer.audiences and serviceAccounts only"
                  },
                  {
                    "rule": "!has(self.scopes) || has(self.clientId)",
                    "message": "scopes are what a clientId asks for; set clientId as well"
                  },
                  {
                    "rule": "!has(self.issuer.jwks) || !(has(self.clientId) || has(self.issuer.certificateAuthority))",
                    "message": "with issuer.jwks nothing is fetched from the issuer, so clientId and issuer.certificateAuthority have no use"
                  }
                ],
                "properties": {
                  "name": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 63,
                    "x-kubernetes-validations": [
                      {
                        "rule": "self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",
                        "message": "an issuer's name may have lower-case letters, digits and -, and starts and ends with a letter or digit"
                      }
                    ]
                  },
                  "issuer": {
                    "type": "object",
                    "required": [
                      "audiences"
                    ],
                    "properties": {
                      "url": {
                        "type": "string",
                        "maxLength": 512,
                        "x-kubernetes-validations": [
                          {
                            "rule": "self.matches('^(https://[a-z0-9.-]+|http://(localhost|127[.]0[.]0[.]1))(:[0-9]{1,5})?(/[A-Za-z0-9._~!$&()*+,;=:@%/-]*)?$')",
                            "message": "an issuer's url begins with https:// and has no user, query or fragment; http:// is for localhost in dev mode only"
                          }
                        ]
                      },
                      "audiences": {
                        "type": "array",
                        "minItems": 1,
                        "maxItems": 16,
                        "x-kubernetes-list-type": "set",
                        "items": {
                          "type": "string",
                          "minLength": 1,
                          "maxLength": 256
                        }
                      },
                      "certificateAuthority": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 32768
                      },
                      "jwks": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 65536
                      }
                    }
                  },
                  "kubernetes": {
                    "type": "object"
                  },
                  "claimMappings": {
                    "type": "object",
                    "properties": {
                      "username": {
                        "type": "object",
                        "required": [
                          "claim"
                        ],
                        "properties": {
                          "claim": {
                            "type": "string",
                            "minLength": 1,
                            "maxLength": 256
                          }
                        }
                      }
                    }
                  },
                  "claimValidationRules": {
                    "type": "array",
                    "maxItems": 16,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": [
                      "claim"
                    ],
                    "items": {
                      "type": "object",
                      "required": [
                        "claim",
                        "requiredValue"
                      ],
                      "properties": {
                        "claim": {
                          "type": "string",
                          "minLength": 1,
                          "maxLength": 256
                        },
                        "requiredValue": {
                          "type": "string",
                          "maxLength": 1024
                        }
                      }
                    }
                  },
                  "clientId": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": 256
                  },
                  "scopes": {
                    "type": "array",
                    "maxItems": 16,
                    "x-kubernetes-list-type": "set",
                    "items": {
                      "type": "string",
                      "minLength": 1,
                      "maxLength": 256,
                      "x-kubernetes-validations": [
                        {
                          "rule": "self.matches('^[!#-Z\\\\x5b\\\\x5d^-~]+$')",
                          "message": "a scope has printable ASCII characters other than space, \" and \\"
                        }
                      ]
                    }
                  },
                  "access": {
                    "type": "string",
                    "enum": [
                      "Read",
                      "Write"
                    ]
                  },
                  "administrators": {
                    "type": "array",
                    "maxItems": 16,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": [
                      "claim",
                      "contains"
                    ],
                    "items": {
                      "type": "object",
                      "required": [
                        "claim",
                        "contains"
                      ],
                      "properties": {
                        "claim": {
                          "type": "string",
                          "minLength": 1,
                          "maxLength": 256
                        },
                        "contains": {
                          "type": "string",
                          "minLength": 1,
                          "maxLength": 1024
                        }
                      }
                    }
                  },
                  "serviceAccounts": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 64,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": [
                      "namespace",
                      "name"
                    ],
                    "items": {
                      "type": "object",
                      "required": [
                        "namespace",
                        "name"
                      ],
                      "properties": {
                        "namespace": {
                          "type": "string",
                          "minLength": 1,
                          "maxLength": 63
                        },
                        "name": {
                          "type": "string",
                          "minLength": 1,
                          "maxLength": 253
                        },
                        "role": {
                          "type": "string",
                          "enum": [
                            "Users",
                            "Administrators"
                          ],
                          "default": "Users"
                        },
                        "access": {
                          "type": "string",
                          "enum": [
                            "Read",
                            "Write"
                          ],
                          "default": "Read"
                        }
                      }
                    }
                  }
                }
              }
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
            "allowHeaders": {
              "type": "array",
              "maxItems": 64,
              "x-kubernetes-list-type": "set",
              "items": {
                "type": "string",
                "maxLength": 64,
                "x-kubernetes-validations": [
                  {
                    "rule": "self.matches('^([*]|[-!#$%&\\'+.^_`|~0-9A-Za-z]+)$')",
                    "message": "a header is a name such as X-B3-TraceId, or \"*\" for any; \"*\" is no part of a name"
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
