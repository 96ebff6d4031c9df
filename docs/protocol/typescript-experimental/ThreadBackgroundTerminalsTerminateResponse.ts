// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `thread/backgroundTerminals/terminate`.
 */
export type ThreadBackgroundTerminalsTerminateResponse = {
/**
 * Whether there was a process to terminate.
 */
terminated: boolean, };
