// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Thread } from "./Thread";

/**
 * A thread in which a text was found.
 */
export type ThreadSearchResult = {
/**
 * The text around it.
 */
snippet: string,
/**
 * The thread.
 */
thread: Thread, };
