// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `process/kill`.
 */
export type ProcessKillParams = {
/**
 * Id of the process, chosen by the connection.
 */
processHandle: string, };
