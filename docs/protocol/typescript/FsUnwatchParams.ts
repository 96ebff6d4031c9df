// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `fs/unwatch`.
 */
export type FsUnwatchParams = {
/**
 * Id of the watch, chosen by the connection.
 */
watchId: string, };
