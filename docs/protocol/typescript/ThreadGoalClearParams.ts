// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadGoalMutationOrigin } from "./ThreadGoalMutationOrigin";

/**
 * Params of `thread/goal/clear`.
 */
export type ThreadGoalClearParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Who makes the change.
 */
origin?: ThreadGoalMutationOrigin | null, };
