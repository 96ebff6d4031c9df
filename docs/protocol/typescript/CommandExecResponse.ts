// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `command/exec`.
 */
export type CommandExecResponse = {
/**
 * The exit code.
 */
exitCode: number,
/**
 * Content of standard error.
 */
stderr: string,
/**
 * Content of standard output.
 */
stdout: string, };
