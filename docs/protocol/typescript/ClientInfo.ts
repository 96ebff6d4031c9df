// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * What a client says of itself.
 */
export type ClientInfo = {
/**
 * The name.
 */
name: string,
/**
 * The version.
 */
version: string,
/**
 * The name, for people.
 */
title?: string | null, };
