// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadReadState } from "./ThreadReadState";

/**
 * Params of the notification `thread/readState/changed`.
 */
export type ThreadReadStateChangedNotification = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Which part of the thread the user has read.
 */
readState: ThreadReadState, };
