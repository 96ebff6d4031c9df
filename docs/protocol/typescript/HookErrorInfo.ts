// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * An error of reading a hook.
 */
export type HookErrorInfo = {
/**
 * The message for people.
 */
message: string,
/**
 * Path of the file.
 */
path: string, };
