// Generated from crds/ by `npm run generate`. Change the CRD, not this file.
import type { ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

/**
 * A ProjectUser is a login: POST <base URL>/sessions/ with the user name and the password answers with an access token and a refresh token. The password comes from a Secret, or is generated into the Secret <metadata.name>-password.
 */
export interface ProjectUser {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "ProjectUser";
  readonly metadata: ObjectMeta;
  readonly spec: ProjectUserSpec;
  readonly status?: ProjectUserStatus;
}
/**
 * What the ProjectUser should be.
 */
export interface ProjectUserSpec {
  /**
   * The Project that this ProjectUser belongs to, in the same namespace. Immutable.
   */
  readonly projectRef: {
    /**
     * metadata.name of the Project. It may be applied before or after this ProjectUser.
     */
    readonly name: string;
  };
  /**
   * The name to log in with, and the creator of what the user makes. Case counts. Unset: metadata.name. Immutable.
   */
  readonly username?: string;
  /**
   * A Secret of the same namespace that holds the password; a change of it is followed within seconds and ends the user's sessions. Unset: a password is generated into the Secret <metadata.name>-password.
   */
  readonly passwordSecretRef?: {
    /**
     * metadata.name of the Secret.
     */
    readonly name: string;
    /**
     * Which entry of the Secret is the password. One final line break is dropped from it. Default: password.
     */
    readonly key: string;
  };
  /**
   * Users reach what access.scope of each ApiResource lets them reach, by default the objects they made; Administrators reach every object. Default: Users.
   */
  readonly role: "Users" | "Administrators";
  /**
   * Read may get and list; Write may create, edit and delete as well. Default: Read.
   */
  readonly access: "Read" | "Write";
  /**
   * A new generated password, without a gap. Not together with passwordSecretRef.
   */
  readonly rotation?: {
    /**
     * Any name for this password, such as a date: a new id makes a new password. Quote it when it is a number.
     */
    readonly id: string;
  };
}
/**
 * What the operator has seen and done. Written by the operator only.
 */
export interface ProjectUserStatus {
  /**
   * metadata.generation that the conditions speak of; -1 until the operator has seen the object.
   */
  readonly observedGeneration?: number;
  /**
   * metadata.generation that is served. It stays behind observedGeneration while the newest spec is broken, because the last good one goes on being served.
   */
  readonly liveGeneration?: number;
  /**
   * The name to log in with.
   */
  readonly username?: string;
  /**
   * The Secret that holds the password.
   */
  readonly secretName?: string;
  /**
   * rotation.id of the password that is in force.
   */
  readonly rotationID?: string;
  /**
   * When the password last changed.
   */
  readonly passwordChangedAt?: string;
  /**
   * Accepted: the spec is valid and what it refers to exists. Programmed: every live replica serves it. Ready: both are true. Reconciling and Stalled are present only while they are true: Reconciling is still being worked on, Stalled needs a person.
   */
  readonly conditions?: readonly ProjectUserCondition[];
}
export interface ProjectUserCondition {
  /**
   * Accepted, Programmed, Ready, Reconciling or Stalled.
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

export const projectUserSchema: SchemaNode = {
  "type": "object",
  "x-kubernetes-validations": [
    {
      "rule": "self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",
      "fieldPath": ".metadata.name",
      "message": "metadata.name may have lower-case letters, digits and -, up to 63 of them, and starts and ends with a letter or digit"
    },
    {
      "rule": "self.spec.projectRef.name == oldSelf.spec.projectRef.name",
      "fieldPath": ".spec.projectRef.name",
      "reason": "FieldValueForbidden",
      "message": "projectRef is immutable: write the former name again, or delete this ProjectUser and create it anew for the other project"
    },
    {
      "rule": "(has(self.spec.username) ? self.spec.username : self.metadata.name) == (has(oldSelf.spec.username) ? oldSelf.spec.username : oldSelf.metadata.name)",
      "fieldPath": ".spec.username",
      "reason": "FieldValueForbidden",
      "message": "username (metadata.name where it is unset) is immutable, because objects remember who made them: write the former value again, or create another ProjectUser"
    },
    {
      "rule": "(has(self.spec.username) ? self.spec.username : self.metadata.name) != 'anonymous'",
      "fieldPath": ".spec.username",
      "reason": "FieldValueForbidden",
      "message": "anonymous is the creator of objects that were made without credentials, choose another username"
    }
  ],
  "required": [
    "spec"
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
      "required": [
        "projectRef"
      ],
      "x-kubernetes-validations": [
        {
          "rule": "!has(self.passwordSecretRef) || !has(self.rotation)",
          "fieldPath": ".rotation",
          "reason": "FieldValueForbidden",
          "message": "rotation makes a new generated password, and this one comes from passwordSecretRef: change that Secret to change it, and take out one of the two"
        }
      ],
      "properties": {
        "projectRef": {
          "type": "object",
          "required": [
            "name"
          ],
          "properties": {
            "name": {
              "type": "string",
              "minLength": 1,
              "maxLength": 63,
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",
                  "message": "projectRef.name may have lower-case letters, digits and -, and starts and ends with a letter or digit, as every Project's name does"
                }
              ]
            }
          }
        },
        "username": {
          "type": "string",
          "maxLength": 128,
          "x-kubernetes-validations": [
            {
              "rule": "self.matches('^[A-Za-z0-9._@+-]+$')",
              "message": "username may have letters, digits and . _ @ + -, up to 128 of them"
            }
          ]
        },
        "passwordSecretRef": {
          "type": "object",
          "required": [
            "name"
          ],
          "properties": {
            "name": {
              "type": "string",
              "maxLength": 253,
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",
                  "message": "passwordSecretRef.name is the name of a Secret: lower-case letters, digits, - and ."
                }
              ]
            },
            "key": {
              "type": "string",
              "default": "password",
              "maxLength": 253,
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^[-._A-Za-z0-9]+$')",
                  "message": "passwordSecretRef.key may have letters, digits and - . _"
                }
              ]
            }
          }
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
        },
        "rotation": {
          "type": "object",
          "required": [
            "id"
          ],
          "properties": {
            "id": {
              "type": "string",
              "maxLength": 64,
              "x-kubernetes-validations": [
                {
                  "rule": "self.matches('^[A-Za-z0-9._:-]+$')",
                  "message": "rotation.id may have letters, digits and . _ : -, up to 64 of them"
                }
              ]
            }
          }
        }
      }
    }
  }
};
