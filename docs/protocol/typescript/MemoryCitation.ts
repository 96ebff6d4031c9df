// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { MemoryCitationEntry } from "./MemoryCitationEntry";

/**
 * Memories that a message cites.
 */
export type MemoryCitation = {
/**
 * Places in memory files.
 */
entries: Array<MemoryCitationEntry>,
/**
 * Ids of the threads.
 */
threadIds: Array<string>, };
