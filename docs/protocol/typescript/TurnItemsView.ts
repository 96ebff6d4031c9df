// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How much of a turn's items is there.
 */
export type TurnItemsView = "notLoaded" | "summary" | "full";
