// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Which items of a turn are included.
 */
export type TurnItemsView = "notLoaded" | "summary" | "full";
