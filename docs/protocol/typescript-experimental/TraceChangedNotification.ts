// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { JsonValue } from "./JsonValue";

/**
 * Params of the notification `trace/changed`: what one recorded event, or a run of them, did to the graph.
 */
export type TraceChangedNotification = {
/**
 * The subscription.
 */
subscriptionId: string,
/**
 * The number of the last event whose changes are in here.
 */
seq: number,
/**
 * The changes, in order.
 */
changes: Array<JsonValue>, };
