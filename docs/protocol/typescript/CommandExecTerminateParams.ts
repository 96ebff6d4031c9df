// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `command/exec/terminate`.
 */
export type CommandExecTerminateParams = {
/**
 * Id of the command, chosen by the connection.
 */
processId: string, };
