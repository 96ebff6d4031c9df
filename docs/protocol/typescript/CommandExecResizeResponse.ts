// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `command/exec/resize`.
 */
export type CommandExecResizeResponse = Record<symbol, never>;
