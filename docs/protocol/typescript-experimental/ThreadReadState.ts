// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadUnreadPosition } from "./ThreadUnreadPosition";

/**
 * What of a thread the user has read.
 */
export type ThreadReadState = {
/**
 * A number that grows with each change.
 */
revision: string,
/**
 * The first thing that was not read; `null` if all was.
 */
firstUnread?: ThreadUnreadPosition | null, };
