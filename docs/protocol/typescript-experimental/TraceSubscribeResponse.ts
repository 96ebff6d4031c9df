// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Result of `trace/subscribe`.
 */
export type TraceSubscribeResponse = {
/**
 * Id that the notifications contain. It is valid for this connection.
 */
subscriptionId: string,
/**
 * Seq of the last event before the subscription. The first notification has a greater `seq`.
 */
lastSeq: number, };
