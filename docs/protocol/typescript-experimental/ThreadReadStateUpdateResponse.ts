// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadReadState } from "./ThreadReadState";

/**
 * Result of `thread/readState/update`.
 */
export type ThreadReadStateUpdateResponse = {
/**
 * What of it was read.
 */
readState: ThreadReadState, };
