// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { PermissionProfileSummary } from "./PermissionProfileSummary";

/**
 * Result of `permissionProfile/list`.
 */
export type PermissionProfileListResponse = {
/**
 * The requested entries.
 */
data: Array<PermissionProfileSummary>,
/**
 * Cursor of the next page. `null` on the last page.
 */
nextCursor?: string | null, };
