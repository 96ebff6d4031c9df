// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What a part of a command does, as far as the server can tell.
 */
export type CommandAction = { "type": "read",
/**
 * The command as a shell command line.
 */
command: string,
/**
 * Name of the file.
 */
name: string,
/**
 * Path of the file.
 */
path: string, } | { "type": "listFiles",
/**
 * The command as a shell command line.
 */
command: string,
/**
 * Path of the directory, if the command names one.
 */
path?: string | null, } | { "type": "search",
/**
 * The command as a shell command line.
 */
command: string,
/**
 * Path of the file or directory, if the command names one.
 */
path?: string | null,
/**
 * The searched text.
 */
query?: string | null, } | { "type": "unknown",
/**
 * The command as a shell command line.
 */
command: string, };
