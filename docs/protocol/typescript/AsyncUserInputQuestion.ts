// Made by `trace schema --ts` from the server's types. Changes here are lost.

/**
 * A question to the user that the turn does not wait for.
 */
export type AsyncUserInputQuestion = {
/**
 * The title.
 */
title: string,
/**
 * The answers on offer.
 */
options?: Array<string> | null, };
