// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { PermissionProfileSummary } from "./PermissionProfileSummary";

/**
 * Result of `permissionProfile/list`.
 */
export type PermissionProfileListResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<PermissionProfileSummary>,
/**
 * Where the next page begins; `null` on the last one.
 */
nextCursor?: string | null, };
