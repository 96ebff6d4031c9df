// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * The permission profile in force.
 */
export type ActivePermissionProfile = {
/**
 * The id.
 */
id: string,
/**
 * The profile that it is based on.
 */
extends?: string | null, };
