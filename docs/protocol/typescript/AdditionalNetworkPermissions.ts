// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Permissions for the network beyond the sandbox of a command.
 */
export type AdditionalNetworkPermissions = {
/**
 * Whether the network may be used.
 */
enabled?: boolean | null, };
