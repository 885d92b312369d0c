// Generated from crds/ by `npm run generate`. Change the CRD, not this file.
import type { ObjectMeta } from "../object.ts";
import type { SchemaNode } from "../schema-node.ts";

/**
 * A ProjectUser is a login. POST <base URL>/sessions/ with user name and password answers with an access token and a refresh token. The password comes from your own Secret, or the operator generates it in the Secret <metadata.name>-password.
 */
export interface ProjectUser {
  readonly apiVersion: "jsonplane.io/v1alpha1";
  readonly kind: "ProjectUser";
  readonly metadata: ObjectMeta;
  readonly spec: ProjectUserSpec;
  readonly status?: ProjectUserStatus;
}
/**
 * The desired state of the ProjectUser.
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
   * The login name, and the creator of the objects that the user creates. It is case-sensitive. Unset: metadata.name. Immutable.
   */
  readonly username?: string;
  /**
   * A Secret of the same namespace that contains the password. A change of it takes effect within seconds and ends the user's sessions. Unset: the operator generates a password in the Secret <metadata.name>-password.
   */
  readonly passwordSecretRef?: {
    /**
     * metadata.name of the Secret.
     */
    readonly name: string;
    /**
     * The entry of the Secret with the password. One final line break is removed. Default: password.
     */
    readonly key: string;
  };
  /**
   * Users: reaches the objects that access.scope of each ApiResource allows, by default the objects that the caller created. Administrators: reaches every object. Default: Users.
   */
  readonly role: "Users" | "Administrators";
  /**
   * Read: may get and list. Write: may also create, edit and delete. Default: Read.
   */
  readonly access: "Read" | "Write";
  /**
   * Creates a new password. The former password stops working at once, and the user's sessions end. Not together with passwordSecretRef.
   */
  readonly rotation?: {
    /**
     * Any name for this password, such as a date. A new id creates a new password. Quote it if it is a number.
     */
    readonly id: string;
  };
}
/**
 * The state that the operator found and reached. Only the operator writes it.
 */
export interface ProjectUserStatus {
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
   * The login name.
   */
  readonly username?: string;
  /**
   * The Secret that contains the password.
   */
  readonly secretName?: string;
  /**
   * rotation.id of the present password.
   */
  readonly rotationID?: string;
  /**
   * When the password last changed.
   */
  readonly passwordChangedAt?: string;
  /**
   * Accepted: the spec is valid, and what it refers to exists. Programmed: every live replica serves it. Ready: both are true. Reconciling and Stalled are present only while they are true. Reconciling: Ready is false and becomes true by itself. Stalled: somebody has to edit something.
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
      "message": "projectRef is immutable: write the former name again, or delete this ProjectUser and create it again for the other project"
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
