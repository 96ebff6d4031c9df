// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Whether there is a network.
 */
export type NetworkAccess = "restricted" | "enabled";
