// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A kind of turn that does not accept further input.
 */
export type NonSteerableTurnKind = "review" | "compact";
