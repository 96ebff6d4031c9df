// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { GrantedPermissionProfile } from "./GrantedPermissionProfile";
import type { PermissionGrantScope } from "./PermissionGrantScope";

/**
 * Answer to `item/permissions/requestApproval`.
 */
export type PermissionsRequestApprovalResponse = {
/**
 * What is granted.
 */
permissions: GrantedPermissionProfile,
/**
 * For how long.
 */
scope?: PermissionGrantScope | null,
/**
 * Whether a model looks at everything from now on.
 */
strictAutoReview?: boolean | null, };
