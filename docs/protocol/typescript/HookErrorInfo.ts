// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A hook that could not be read.
 */
export type HookErrorInfo = {
/**
 * What there is to say.
 */
message: string,
/**
 * The path.
 */
path: string, };
