// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { AdditionalFileSystemPermissions } from "./AdditionalFileSystemPermissions";
import type { AdditionalNetworkPermissions } from "./AdditionalNetworkPermissions";

/**
 * Permissions that the model asks for.
 */
export type RequestPermissionProfile = {
/**
 * What may be done with files.
 */
fileSystem?: AdditionalFileSystemPermissions | null,
/**
 * What may be done on the network.
 */
network?: AdditionalNetworkPermissions | null, };
