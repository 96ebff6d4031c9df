// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `turn/interrupt`.
 */
export type TurnInterruptParams = {
/**
 * Id of the thread.
 */
threadId: string,
/**
 * Id of the turn.
 */
turnId: string, };
