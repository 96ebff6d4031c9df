// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AdditionalFileSystemPermissions } from "./AdditionalFileSystemPermissions";
import type { AdditionalNetworkPermissions } from "./AdditionalNetworkPermissions";

/**
 * Permissions that the model requests.
 */
export type RequestPermissionProfile = {
/**
 * Permissions for files.
 */
fileSystem?: AdditionalFileSystemPermissions | null,
/**
 * Permissions for the network.
 */
network?: AdditionalNetworkPermissions | null, };
