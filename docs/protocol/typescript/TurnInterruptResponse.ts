// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `turn/interrupt`.
 */
export type TurnInterruptResponse = Record<symbol, never>;
