// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `process/resizePty`.
 */
export type ProcessResizePtyResponse = Record<symbol, never>;
