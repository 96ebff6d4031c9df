// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A permission profile on offer.
 */
export type PermissionProfileSummary = {
/**
 * The id.
 */
id: string,
/**
 * Whether it may be chosen.
 */
allowed: boolean,
/**
 * What it is, for people.
 */
description?: string | null, };
