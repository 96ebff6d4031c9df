// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What a part of a command does, as the older approval request has it.
 */
export type ParsedCommand = { "type": "read",
/**
 * The words of the command.
 */
cmd: string,
/**
 * The name.
 */
name: string,
/**
 * The path.
 */
path: string, } | { "type": "list_files",
/**
 * The words of the command.
 */
cmd: string,
/**
 * The path.
 */
path?: string | null, } | { "type": "search",
/**
 * The words of the command.
 */
cmd: string,
/**
 * The path.
 */
path?: string | null,
/**
 * What is searched for.
 */
query?: string | null, } | { "type": "unknown",
/**
 * The words of the command.
 */
cmd: string, };
