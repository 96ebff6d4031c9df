// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItem } from "./ThreadItem";
import type { TurnError } from "./TurnError";
import type { TurnItemsView } from "./TurnItemsView";
import type { TurnStatus } from "./TurnStatus";

/**
 * A turn: what an agent does from one input of the user until it stops.
 */
export type Turn = {
/**
 * Id of the turn.
 */
id: string,
/**
 * The items that `itemsView` selects.
 */
items: Array<ThreadItem>,
/**
 * The status.
 */
status: TurnStatus,
/**
 * End time in Unix seconds.
 */
completedAt?: number | null,
/**
 * Duration in milliseconds.
 */
durationMs?: number | null,
/**
 * The error. `null` unless the turn failed.
 */
error?: TurnError | null,
/**
 * Which items are included.
 */
itemsView?: TurnItemsView | null,
/**
 * Id of the first turn in the chain that led to this one. Its own id if no other turn did.
 */
rootTurnId?: string | null,
/**
 * Start time in Unix seconds.
 */
startedAt?: number | null, };
