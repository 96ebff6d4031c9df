// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadReadStateOperation } from "./ThreadReadStateOperation";

/**
 * Params of `thread/readState/update`.
 */
export type ThreadReadStateUpdateParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The revision that the client knows. The update is refused if the read state has another one.
 */
expectedRevision: string,
/**
 * The change.
 */
operation: ThreadReadStateOperation, };
