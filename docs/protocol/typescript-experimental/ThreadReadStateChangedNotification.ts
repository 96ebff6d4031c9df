// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadReadState } from "./ThreadReadState";

/**
 * Params of the notification `thread/readState/changed`.
 */
export type ThreadReadStateChangedNotification = {
/**
 * The thread.
 */
threadId: string,
/**
 * What of it was read.
 */
readState: ThreadReadState, };
