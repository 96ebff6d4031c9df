// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/shellCommand`.
 */
export type ThreadShellCommandResponse = Record<symbol, never>;
