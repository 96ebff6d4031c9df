// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `turn/steer`.
 */
export type TurnSteerResponse = {
/**
 * Id of the turn.
 */
turnId: string, };
