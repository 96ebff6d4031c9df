// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What a command may do on the network beyond its sandbox.
 */
export type AdditionalNetworkPermissions = {
/**
 * Whether the network may be used.
 */
enabled?: boolean | null, };
