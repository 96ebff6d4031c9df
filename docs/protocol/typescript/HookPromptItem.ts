// Made by `trace schema --ts` from the server's types. Changes here are lost.
import type { HookPromptFragment } from "./HookPromptFragment";

/**
 * Texts that hooks put into the conversation.
 */
export type HookPromptItem = {
/**
 * The id.
 */
id: string,
/**
 * The texts.
 */
fragments: Array<HookPromptFragment>,
/**
 * When it began, in Unix milliseconds.
 */
startedAtMs?: number | null,
/**
 * When it was finished, in Unix milliseconds.
 */
completedAtMs?: number | null, };
