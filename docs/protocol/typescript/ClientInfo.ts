// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * Name and version of a client.
 */
export type ClientInfo = {
/**
 * Name of the client.
 */
name: string,
/**
 * Version of the client.
 */
version: string,
/**
 * Display name.
 */
title?: string | null, };
