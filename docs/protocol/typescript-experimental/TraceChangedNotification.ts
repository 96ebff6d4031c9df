// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Params of the notification `trace/changed`: changes of the graph by one or several recorded events.
 */
export type TraceChangedNotification = {
/**
 * Id of the subscription.
 */
subscriptionId: string,
/**
 * Seq of the last event whose changes are included.
 */
seq: number,
/**
 * The changes, in order.
 */
changes: Array<JsonValue>, };
