// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A reasoning effort that can be chosen.
 */
export type ReasoningEffortOption = {
/**
 * Description for people.
 */
description: string,
/**
 * The reasoning effort.
 */
reasoningEffort: string, };
