// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A reasoning effort on offer.
 */
export type ReasoningEffortOption = {
/**
 * What it is, for people.
 */
description: string,
/**
 * How hard the model thinks.
 */
reasoningEffort: string, };
