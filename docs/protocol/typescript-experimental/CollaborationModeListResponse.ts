// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CollaborationModeMask } from "./CollaborationModeMask";

/**
 * Result of `collaborationMode/list`.
 */
export type CollaborationModeListResponse = {
/**
 * The requested entries.
 */
data: Array<CollaborationModeMask>, };
