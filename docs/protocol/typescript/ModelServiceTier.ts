// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A service tier of a model.
 */
export type ModelServiceTier = {
/**
 * Id of the tier.
 */
id: string,
/**
 * Description for people.
 */
description: string,
/**
 * Name of the tier.
 */
name: string, };
