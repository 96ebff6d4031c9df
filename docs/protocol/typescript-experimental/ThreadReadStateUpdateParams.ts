// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadReadStateOperation } from "./ThreadReadStateOperation";

/**
 * Params of `thread/readState/update`.
 */
export type ThreadReadStateUpdateParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The revision that the client knows; an older one is refused.
 */
expectedRevision: string,
/**
 * What is to become of it.
 */
operation: ThreadReadStateOperation, };
