// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A level of service at which a model can be used.
 */
export type ModelServiceTier = {
/**
 * The id.
 */
id: string,
/**
 * What it is, for people.
 */
description: string,
/**
 * The name.
 */
name: string, };
