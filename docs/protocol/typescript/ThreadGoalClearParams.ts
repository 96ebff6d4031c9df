// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadGoalMutationOrigin } from "./ThreadGoalMutationOrigin";

/**
 * Params of `thread/goal/clear`.
 */
export type ThreadGoalClearParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * Who does it.
 */
origin?: ThreadGoalMutationOrigin | null, };
