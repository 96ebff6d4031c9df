// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `command/exec/write`.
 */
export type CommandExecWriteResponse = Record<symbol, never>;
