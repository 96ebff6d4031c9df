// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Whether commands may use the network.
 */
export type NetworkAccess = "restricted" | "enabled";
