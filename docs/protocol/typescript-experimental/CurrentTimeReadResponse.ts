// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Response to `currentTime/read`.
 */
export type CurrentTimeReadResponse = {
/**
 * The time, in Unix seconds.
 */
currentTimeAt: number, };
