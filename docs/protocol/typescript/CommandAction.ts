// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What a part of a command does, as far as it can be told.
 */
export type CommandAction = { "type": "read",
/**
 * The command, as a line for a shell.
 */
command: string,
/**
 * The name.
 */
name: string,
/**
 * The path.
 */
path: string, } | { "type": "listFiles",
/**
 * The command, as a line for a shell.
 */
command: string,
/**
 * The path.
 */
path?: string | null, } | { "type": "search",
/**
 * The command, as a line for a shell.
 */
command: string,
/**
 * The path.
 */
path?: string | null,
/**
 * What is searched for.
 */
query?: string | null, } | { "type": "unknown",
/**
 * The command, as a line for a shell.
 */
command: string, };
