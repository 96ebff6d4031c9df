// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `command/exec/terminate`.
 */
export type CommandExecTerminateParams = {
/**
 * The name that the connection gave to the command.
 */
processId: string, };
