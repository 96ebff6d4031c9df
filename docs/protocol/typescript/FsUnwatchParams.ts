// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Params of `fs/unwatch`.
 */
export type FsUnwatchParams = {
/**
 * The connection's own name for the watch.
 */
watchId: string, };
