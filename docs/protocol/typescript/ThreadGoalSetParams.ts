// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadGoalMutationOrigin } from "./ThreadGoalMutationOrigin";
import type { ThreadGoalStatus } from "./ThreadGoalStatus";

/**
 * Params of `thread/goal/set`.
 */
export type ThreadGoalSetParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * The objective.
 */
objective?: string | null,
/**
 * Who makes the change.
 */
origin?: ThreadGoalMutationOrigin | null,
/**
 * The status.
 */
status?: ThreadGoalStatus | null,
/**
 * Most tokens that may be used for it. `null` for no limit.
 */
tokenBudget?: number | null, };
