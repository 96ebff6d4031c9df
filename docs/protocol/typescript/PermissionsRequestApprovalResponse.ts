// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { GrantedPermissionProfile } from "./GrantedPermissionProfile";
import type { PermissionGrantScope } from "./PermissionGrantScope";

/**
 * Response to `item/permissions/requestApproval`.
 */
export type PermissionsRequestApprovalResponse = {
/**
 * The granted permissions.
 */
permissions: GrantedPermissionProfile,
/**
 * How long the permissions last.
 */
scope?: PermissionGrantScope | null,
/**
 * Whether a model reviews all actions from now on.
 */
strictAutoReview?: boolean | null, };
