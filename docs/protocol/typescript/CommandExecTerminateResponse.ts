// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `command/exec/terminate`.
 */
export type CommandExecTerminateResponse = Record<symbol, never>;
