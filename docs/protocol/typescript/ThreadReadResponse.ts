// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Thread } from "./Thread";

/**
 * Result of `thread/read`.
 */
export type ThreadReadResponse = {
/**
 * The thread.
 */
thread: Thread, };
