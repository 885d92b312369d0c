// Generated from charts/jsonplane/files/crds/ by `npm run generate`. Change the CRD, not this file.
import type { Condition, ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

export interface Project {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "Project";
  readonly metadata: ObjectMeta;
  readonly spec: ProjectSpec;
  readonly status?: ProjectStatus;
}
export interface ProjectSpec {
  readonly authentication: {
    readonly policy: "Enabled" | "Disabled";
    readonly issuers?: {
      readonly name: string;
      readonly issuer: {
        readonly url?: string;
        readonly audiences: readonly string[];
        readonly certificateAuthority?: string;
        readonly jwks?: string;
      };
      readonly kubernetes?: {};
      readonly claimMappings?: {
        readonly username?: {
          readonly claim: string;
        };
      };
      readonly claimValidationRules?: {
        readonly claim: string;
        readonly requiredValue: string;
      }[];
      readonly clientId?: string;
      readonly scopes?: readonly string[];
      readonly access?: "Read" | "Write";
      readonly administrators?: {
        readonly claim: string;
        readonly contains: string;
      }[];
      readonly serviceAccounts?: {
        readonly namespace: string;
        readonly name: string;
        readonly role: "Users" | "Administrators";
        readonly access: "Read" | "Write";
      }[];
    }[];
  };
  readonly hosts: readonly string[];
  readonly sessions: {
    readonly accessTokenTTL: string;
    readonly refreshTokenTTL: string;
    readonly maxPerUser: number;
    readonly maxPerProject: number;
  };
  readonly limits: {
    readonly maxBodyBytes: number;
    readonly maxObjectBytes?: number;
    readonly maxDocumentBytes: number;
    readonly maxPageSize: number;
    readonly anonymousWritesPerMinute: number;
    readonly quota?: {
      readonly objects?: number;
      readonly bytes?: number;
      readonly documentKeys?: number;
    };
    readonly rate?: {
      readonly project?: {
        readonly requestsPerSecond: number;
        readonly burst?: number;
      };
      readonly caller?: {
        readonly requestsPerSecond: number;
        readonly burst?: number;
      };
    };
  };
  readonly cors: {
    readonly allowedOrigins: readonly string[];
    readonly allowHeaders?: readonly string[];
    readonly maxAge: string;
  };
  readonly console: "Anyone" | "Authenticated" | "Nobody";
  readonly openapi: "Anyone" | "Authenticated" | "Nobody";
  readonly serving: "ReadWrite" | "ReadOnly" | "Off";
  readonly suspend: boolean;
  readonly deletionPolicy: "Retain" | "Delete";
  readonly copies?: {
    readonly allow: "Nobody" | "Namespace";
  };
  readonly durability?: "Replicated";
  readonly dataSourceRef?: {
    readonly kind: "Project";
    readonly name: string;
  };
  readonly dataSource?: {
    readonly resources?: readonly string[];
    readonly rootKeys?: readonly string[];
    readonly omit?: readonly string[];
  };
}
export interface ProjectStatus {
  readonly observedGeneration?: number;
  readonly controller?: string;
  readonly liveGeneration?: number;
  readonly baseURL?: string;
  readonly children?: {
    readonly apiResources?: number;
    readonly projectUsers?: number;
    readonly apiKeys?: number;
    readonly rootKeys?: number;
  };
  readonly effectiveLimits?: {
    readonly quota?: {
      readonly objects?: number;
      readonly bytes?: number;
      readonly documentKeys?: number;
    };
    readonly rate?: {
      readonly project?: {
        readonly requestsPerSecond: number;
        readonly burst: number;
      };
      readonly caller?: {
        readonly requestsPerSecond: number;
        readonly burst: number;
      };
    };
  };
  readonly storedObjectCount?: number;
  readonly usage?: {
    readonly quota: string;
    readonly used: number;
    readonly limit: number;
    readonly nearlyFull: boolean;
  }[];
  readonly dataSource?: {
    readonly copied: number;
    readonly refused: number;
    readonly examples?: {
      readonly resource?: string;
      readonly id?: string;
      readonly rootKey?: string;
      readonly pointer?: string;
      readonly reason: string;
    }[];
    readonly completedAt?: string;
  };
  readonly conditions?: readonly Condition[];
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
      "rule": "!has(self.spec) || !has(self.spec.dataSourceRef) || self.spec.dataSourceRef.name != self.metadata.name",
      "fieldPath": ".spec.dataSourceRef.name",
      "message": "a Project can't be copied from itself"
    }
  ],
  "properties": {
    "apiVersion": {"type":"string"},
    "kind": {"type":"string"},
    "metadata": {"type":"object","properties":{"name":{"type":"string","maxLength":63}}},
    "spec": {
      "type": "object",
      "default": {},
      "x-kubernetes-validations": [
        {
          "rule": "has(self.dataSourceRef) == has(self.dataSource)",
          "fieldPath": ".dataSource",
          "message": "dataSourceRef says where data are copied from, and dataSource which; set both, or neither"
        },
        {
          "rule": "has(self.dataSourceRef) == has(oldSelf.dataSourceRef) && (!has(self.dataSourceRef) || self.dataSourceRef == oldSelf.dataSourceRef)",
          "fieldPath": ".dataSourceRef",
          "message": "dataSourceRef can't change, be added or removed; delete the Project and create it again"
        },
        {
          "rule": "!has(self.dataSource) || !has(oldSelf.dataSource) || self.dataSource == oldSelf.dataSource",
          "fieldPath": ".dataSource",
          "message": "dataSource can't change; delete the Project and create it again"
        }
      ],
      "properties": {
        "authentication": {
          "type": "object",
          "default": {},
          "properties": {
            "policy": {"type":"string","enum":["Enabled","Disabled"],"default":"Enabled"},
            "issuers": {
              "type": "array",
              "maxItems": 8,
              "x-kubernetes-list-type": "map",
              "x-kubernetes-list-map-keys": ["name"],
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
                "required": ["name","issuer"],
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
                    "required": ["audiences"],
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
                        "items": {"type":"string","minLength":1,"maxLength":256}
                      },
                      "certificateAuthority": {"type":"string","minLength":1,"maxLength":32768},
                      "jwks": {"type":"string","minLength":1,"maxLength":65536}
                    }
                  },
                  "kubernetes": {"type":"object"},
                  "claimMappings": {
                    "type": "object",
                    "properties": {
                      "username": {
                        "type": "object",
                        "required": ["claim"],
                        "properties": {"claim":{"type":"string","minLength":1,"maxLength":256}}
                      }
                    }
                  },
                  "claimValidationRules": {
                    "type": "array",
                    "maxItems": 16,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["claim"],
                    "items": {
                      "type": "object",
                      "required": ["claim","requiredValue"],
                      "properties": {
                        "claim": {"type":"string","minLength":1,"maxLength":256},
                        "requiredValue": {"type":"string","maxLength":1024}
                      }
                    }
                  },
                  "clientId": {"type":"string","minLength":1,"maxLength":256},
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
                  "access": {"type":"string","enum":["Read","Write"]},
                  "administrators": {
                    "type": "array",
                    "maxItems": 16,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["claim","contains"],
                    "items": {
                      "type": "object",
                      "required": ["claim","contains"],
                      "properties": {
                        "claim": {"type":"string","minLength":1,"maxLength":256},
                        "contains": {"type":"string","minLength":1,"maxLength":1024}
                      }
                    }
                  },
                  "serviceAccounts": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 64,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["namespace","name"],
                    "items": {
                      "type": "object",
                      "required": ["namespace","name"],
                      "properties": {
                        "namespace": {"type":"string","minLength":1,"maxLength":63},
                        "name": {"type":"string","minLength":1,"maxLength":253},
                        "role": {"type":"string","enum":["Users","Administrators"],"default":"Users"},
                        "access": {"type":"string","enum":["Read","Write"],"default":"Read"}
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
            "maxPerUser": {"type":"integer","format":"int32","minimum":1,"maximum":1000,"default":100},
            "maxPerProject": {"type":"integer","format":"int32","minimum":1,"maximum":1000000,"default":10000}
          }
        },
        "limits": {
          "type": "object",
          "default": {},
          "properties": {
            "maxBodyBytes": {"type":"integer","format":"int64","minimum":1024,"maximum":8388608,"default":1048576},
            "maxObjectBytes": {"type":"integer","format":"int64","minimum":1024,"maximum":8388608},
            "maxDocumentBytes": {"type":"integer","format":"int64","minimum":1024,"maximum":8388608,"default":1048576},
            "maxPageSize": {"type":"integer","format":"int32","minimum":10,"maximum":1000,"default":100},
            "anonymousWritesPerMinute": {"type":"integer","format":"int32","minimum":1,"maximum":1000000,"default":600},
            "quota": {
              "type": "object",
              "minProperties": 1,
              "properties": {
                "objects": {"type":"integer","format":"int64","minimum":1,"maximum":1000000000},
                "bytes": {"type":"integer","format":"int64","minimum":1024,"maximum":1099511627776},
                "documentKeys": {"type":"integer","format":"int64","minimum":1,"maximum":1000000000}
              }
            },
            "rate": {
              "type": "object",
              "properties": {
                "project": {
                  "type": "object",
                  "required": ["requestsPerSecond"],
                  "properties": {
                    "requestsPerSecond": {"type":"integer","format":"int32","minimum":1,"maximum":100000},
                    "burst": {"type":"integer","format":"int32","minimum":1,"maximum":1000000}
                  }
                },
                "caller": {
                  "type": "object",
                  "required": ["requestsPerSecond"],
                  "properties": {
                    "requestsPerSecond": {"type":"integer","format":"int32","minimum":1,"maximum":100000},
                    "burst": {"type":"integer","format":"int32","minimum":1,"maximum":1000000}
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
              "default": ["*"],
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
        "console": {"type":"string","enum":["Anyone","Authenticated","Nobody"],"default":"Nobody"},
        "openapi": {"type":"string","enum":["Anyone","Authenticated","Nobody"],"default":"Authenticated"},
        "serving": {"type":"string","enum":["ReadWrite","ReadOnly","Off"],"default":"ReadWrite"},
        "suspend": {"type":"boolean","default":false},
        "deletionPolicy": {"type":"string","enum":["Retain","Delete"],"default":"Retain"},
        "copies": {
          "type": "object",
          "properties": {"allow":{"type":"string","enum":["Nobody","Namespace"],"default":"Nobody"}}
        },
        "durability": {"type":"string","enum":["Replicated"]},
        "dataSourceRef": {
          "type": "object",
          "required": ["kind","name"],
          "properties": {
            "kind": {"type":"string","enum":["Project"]},
            "name": {"type":"string","minLength":1,"maxLength":63}
          }
        },
        "dataSource": {
          "type": "object",
          "x-kubernetes-validations": [
            {
              "rule": "has(self.resources) || has(self.rootKeys)",
              "message": "name what is copied, in resources or rootKeys"
            },
            {
              "rule": "!has(self.omit) || self.omit.all(field, has(self.resources) && self.resources.exists(name, field.startsWith(name + '.')))",
              "fieldPath": ".omit",
              "message": "omit has fields of what is named in resources, such as users.email with resources [users]"
            }
          ],
          "properties": {
            "resources": {
              "type": "array",
              "minItems": 1,
              "maxItems": 100,
              "x-kubernetes-list-type": "set",
              "items": {"type":"string","minLength":1,"maxLength":63}
            },
            "rootKeys": {
              "type": "array",
              "minItems": 1,
              "maxItems": 100,
              "x-kubernetes-list-type": "set",
              "items": {"type":"string","minLength":1,"maxLength":63}
            },
            "omit": {
              "type": "array",
              "minItems": 1,
              "maxItems": 100,
              "x-kubernetes-list-type": "set",
              "items": {"type":"string","minLength":3,"maxLength":577}
            }
          }
        }
      }
    }
  }
};
