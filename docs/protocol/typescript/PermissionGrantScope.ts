// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * How long a permission lasts.
 */
export type PermissionGrantScope = "turn" | "session";
