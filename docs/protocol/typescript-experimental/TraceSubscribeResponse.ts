// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `trace/subscribe`.
 */
export type TraceSubscribeResponse = {
/**
 * The id that the notifications carry; it belongs to this connection.
 */
subscriptionId: string,
/**
 * The last event that the notifications will not tell about: the first one has a later `seq`.
 */
lastSeq: number, };
