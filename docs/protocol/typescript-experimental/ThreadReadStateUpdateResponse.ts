// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadReadState } from "./ThreadReadState";

/**
 * Result of `thread/readState/update`.
 */
export type ThreadReadStateUpdateResponse = {
/**
 * The new read state.
 */
readState: ThreadReadState, };
