// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AdditionalFileSystemPermissions } from "./AdditionalFileSystemPermissions";
import type { AdditionalNetworkPermissions } from "./AdditionalNetworkPermissions";

/**
 * Permissions that a command asks for beyond its sandbox.
 */
export type AdditionalPermissionProfile = {
/**
 * What may be done with files.
 */
fileSystem?: AdditionalFileSystemPermissions | null,
/**
 * What may be done on the network.
 */
network?: AdditionalNetworkPermissions | null, };
