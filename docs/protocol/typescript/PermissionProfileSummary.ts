// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A permission profile that can be chosen.
 */
export type PermissionProfileSummary = {
/**
 * Id of the profile.
 */
id: string,
/**
 * Whether it may be chosen.
 */
allowed: boolean,
/**
 * Description for people.
 */
description?: string | null, };
