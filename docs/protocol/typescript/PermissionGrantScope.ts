// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * For how long a permission is granted.
 */
export type PermissionGrantScope = "turn" | "session";
