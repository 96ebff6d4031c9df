// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `thread/shellCommand`.
 */
export type ThreadShellCommandParams = {
/**
 * The thread.
 */
threadId: string,
/**
 * The command, as a line for a shell.
 */
command: string,
/**
 * How long it may run, in milliseconds.
 */
timeoutMs?: number | null, };
