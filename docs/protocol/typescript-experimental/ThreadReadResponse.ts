// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Thread } from "./Thread";
import type { ThreadReadState } from "./ThreadReadState";

/**
 * Result of `thread/read`.
 */
export type ThreadReadResponse = {
/**
 * The thread.
 */
thread: Thread,
/**
 * Which part of the thread the user has read.
 */
readState?: ThreadReadState | null, };
