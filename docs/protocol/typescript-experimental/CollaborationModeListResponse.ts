// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { CollaborationModeMask } from "./CollaborationModeMask";

/**
 * Result of `collaborationMode/list`.
 */
export type CollaborationModeListResponse = {
/**
 * What was asked for, page by page where there are pages.
 */
data: Array<CollaborationModeMask>, };
