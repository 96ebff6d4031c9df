// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A question to the user for which the turn does not wait.
 */
export type AsyncUserInputQuestion = {
/**
 * The title.
 */
title: string,
/**
 * Answers to choose from.
 */
options?: Array<string> | null, };
