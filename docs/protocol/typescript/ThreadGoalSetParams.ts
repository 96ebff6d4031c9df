// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadGoalMutationOrigin } from "./ThreadGoalMutationOrigin";
import type { ThreadGoalStatus } from "./ThreadGoalStatus";

/**
 * Params of `thread/goal/set`.
 */
export type ThreadGoalSetParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * What is to be reached.
 */
objective?: string | null,
/**
 * Who does it.
 */
origin?: ThreadGoalMutationOrigin | null,
/**
 * How far it is, or what became of it.
 */
status?: ThreadGoalStatus | null,
/**
 * How many tokens may be used for it; `null` for any number.
 */
tokenBudget?: number | null, };
