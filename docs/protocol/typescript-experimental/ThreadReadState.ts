// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadUnreadPosition } from "./ThreadUnreadPosition";

/**
 * Which part of a thread the user has read.
 */
export type ThreadReadState = {
/**
 * Identifies this version of the read state.
 */
revision: string,
/**
 * The first unread position. `null` if everything is read.
 */
firstUnread?: ThreadUnreadPosition | null, };
