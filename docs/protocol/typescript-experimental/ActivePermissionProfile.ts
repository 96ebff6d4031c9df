// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The active permission profile.
 */
export type ActivePermissionProfile = {
/**
 * Id of the profile.
 */
id: string,
/**
 * Id of the profile that it extends.
 */
extends?: string | null, };
