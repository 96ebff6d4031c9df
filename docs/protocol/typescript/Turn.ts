// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { ThreadItem } from "./ThreadItem";
import type { TurnError } from "./TurnError";
import type { TurnItemsView } from "./TurnItemsView";
import type { TurnStatus } from "./TurnStatus";

/**
 * What happens between an input of the user and the end of the work on it.
 */
export type Turn = {
/**
 * The id.
 */
id: string,
/**
 * The items, as far as `itemsView` says.
 */
items: Array<ThreadItem>,
/**
 * How far it is, or what became of it.
 */
status: TurnStatus,
/**
 * When it ended, in Unix seconds.
 */
completedAt?: number | null,
/**
 * How long it took, in milliseconds.
 */
durationMs?: number | null,
/**
 * Why it failed; `null` unless it did.
 */
error?: TurnError | null,
/**
 * How much of the items is there.
 */
itemsView?: TurnItemsView | null,
/**
 * The first turn of the chain that led to this one; itself if none did.
 */
rootTurnId?: string | null,
/**
 * When it began, in Unix seconds.
 */
startedAt?: number | null, };
