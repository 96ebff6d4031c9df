// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Thread } from "./Thread";

/**
 * Result of `thread/rollback`.
 */
export type ThreadRollbackResponse = {
/**
 * The thread with the remaining turns.
 */
thread: Thread, };
