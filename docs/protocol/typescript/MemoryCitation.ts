// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { MemoryCitationEntry } from "./MemoryCitationEntry";

/**
 * What of its memory a message goes back to.
 */
export type MemoryCitation = {
/**
 * The places.
 */
entries: Array<MemoryCitationEntry>,
/**
 * The threads.
 */
threadIds: Array<string>, };
