// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `process/kill`.
 */
export type ProcessKillParams = {
/**
 * The connection's own name for the process.
 */
processHandle: string, };
