// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `turn/interrupt`.
 */
export type TurnInterruptParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The turn.
 */
turnId: string, };
