// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { Thread } from "./Thread";

/**
 * A thread that contains the searched text.
 */
export type ThreadSearchResult = {
/**
 * Text around the match.
 */
snippet: string,
/**
 * The thread.
 */
thread: Thread, };
